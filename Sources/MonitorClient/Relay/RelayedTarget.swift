// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A process that a relay was started for.
package struct RelayedTarget: Sendable, Equatable {
  /// The position of the process among those that the relay was started for, from 1. It does not change while the
  /// link exists.
  package var number: Int
  /// The id of the process on the machine of the relay; 0 if unknown.
  package var processID: Int32
  /// The path of the process's socket on the machine of the relay, unsanitised; empty if the process has none.
  package var path: String
  /// The reason why the process cannot be watched; `nil` if the viewer can try to connect.
  package var refusal: AttachError?
  /// Whether the relay was started without arguments, and has found the process. Otherwise the arguments of the relay
  /// select the process.
  package var isFound: Bool

  /// Creates the target with this number from the greeting of a relay.
  init(_ target: RelayTarget, number: Int) {
    self.number = number
    processID = target.processID
    path = target.path
    refusal = target.refusal.map { AttachError($0) }
    isFound = target.isFound
  }
}

/// The place of a process for its viewer: a socket of this machine, or a process behind a relay.
package enum ProcessAddress: Sendable, Equatable {
  /// The path of a socket of this machine.
  case socket(String)
  /// The process with a ``RelayedTarget/number`` behind a link. Two addresses are equal only if they have the same
  /// link.
  case relayed(RelayLink, number: Int)

  /// The name of the place, such as the name of a host, unsanitised; empty for this machine.
  package var host: String {
    switch self {
    case .socket: ""
    case .relayed(let link, _): link.place.name
    }
  }

  /// Returns whether two addresses are the same.
  package static func == (one: ProcessAddress, other: ProcessAddress) -> Bool {
    switch (one, other) {
    case (.socket(let one), .socket(let other)): one == other
    case (.relayed(let link, let number), .relayed(let otherLink, let otherNumber)):
      link === otherLink && number == otherNumber
    case (.socket, .relayed), (.relayed, .socket): false
    }
  }
}
