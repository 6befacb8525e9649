// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient

/// A process that can be watched, on this machine or on another one.
struct LocatedProcess: Sendable {
  /// How a session connects to the process.
  let address: ProcessAddress
  /// The path of the process's socket, on the machine of the process.
  let path: String
  /// The other machine; `nil` for this machine.
  let place: RemotePlace?

  /// Creates a process of this machine.
  ///
  /// - Parameter path: The path of its socket.
  init(path: String) { (address, self.path, place) = (.socket(path), path, nil) }

  /// Creates a process of another machine.
  ///
  /// - Parameters:
  ///   - target: The process, as the far side of the link has named it.
  ///   - link: The link.
  ///   - place: The machine.
  init(_ target: RelayedTarget, through link: RelayLink, to place: RemotePlace) {
    (address, path) = (.relayed(link, number: target.number), target.path)
    self.place = place
  }

  /// Creates a process that a search has found.
  ///
  /// - Parameters:
  ///   - found: The process.
  ///   - place: The machine on which it was found; `nil` for this machine.
  init(_ found: ProcessFinder.Found, on place: RemotePlace?) {
    (address, path) = (found.address, found.path)
    self.place = place
  }

  /// An id that distinguishes the process from all others. It is never shown.
  var id: ProcessChoice.ID { place.map { "\($0.name):\(path)" } ?? path }

  /// Calls a closure. If it throws an `AttachError`, adds the name of the other machine to the error's description.
  func naming<Value>(_ body: () throws -> Value) throws -> Value {
    try place?.naming(body) ?? body()
  }

  /// The link to the other machine; `nil` for a process of this machine.
  var link: RelayLink? {
    switch address {
    case .socket: nil
    case .relayed(let link, _): link
    }
  }
}
