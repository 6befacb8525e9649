// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorClient
import Synchronization

/// The links to other machines that a run of the viewer has opened. All members can be used on any thread.
final class RelayLinks: Sendable {
  private let links = Mutex<[RelayLink]>([])

  /// Begins to connect to another machine.
  ///
  /// - Parameters:
  ///   - place: The machine.
  ///   - arguments: The arguments of `opq-top relay` on this machine. Without arguments, the link is to all processes of
  ///     the user that listen.
  /// - Returns: The link.
  func open(_ place: RemotePlace, _ arguments: [String]) -> RelayLink {
    let link = RelayLink(place, arguments: arguments)
    links.withLock { $0.append(link) }
    link.connect()
    return link
  }

  /// Ends all links. Blocks the calling thread until their commands have the signal or the end of the input that ends
  /// them.
  func close() {
    let links = self.links.withLock { links in
      defer { links = [] }
      return links
    }
    // A command that has not connected does not notice the end of its input. If this program ended before the links,
    // such a command would continue.
    let ended = DispatchGroup()
    for link in links {
      ended.enter()
      link.invalidate()
      // The link calls the closure after the invalidation, because both use its event loop.
      link.whenGreeted { _ in ended.leave() }
    }
    _ = ended.wait(timeout: .now() + .seconds(1))
  }
}
