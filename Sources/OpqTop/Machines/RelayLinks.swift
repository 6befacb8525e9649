// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol
import Synchronization

/// The links to other machines that a run of the viewer has opened. All members can be used on any thread.
///
/// A source, a recording and a search can use the same link. The link ends when its last user has released it.
final class RelayLinks: Sendable {
  /// The time after which the command of a link that was released has ended or was killed.
  private static let longestEnd = Duration.seconds(5)

  private struct State {
    var open: [(link: RelayLink, userCount: Int)] = []
    /// The links that were released, with the times. Their commands may still be alive.
    var released: [(link: RelayLink, time: MonitorTime)] = []
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Begins to connect to another machine. The caller is the first user of the link.
  ///
  /// - Parameters:
  ///   - place: The machine.
  ///   - arguments: The arguments of `opq-top relay` on that machine. Without arguments, the link is to all processes
  ///     of the user that listen.
  /// - Returns: The link. If ``close()`` was called before, the link has ended.
  func open(_ place: RemotePlace, _ arguments: [String]) -> RelayLink {
    let link = RelayLink(place, arguments: arguments)
    let isClosed = state.withLock { state in
      if !state.isClosed { state.open.append((link, 1)) }
      return state.isClosed
    }
    if isClosed { link.invalidate() } else { link.connect() }
    return link
  }

  /// Adds a user of a link.
  ///
  /// - Parameter link: The link; `nil` for this machine.
  /// - Returns: Whether the link can be used. The result is `false` if the last user has released it.
  @discardableResult
  func share(_ link: RelayLink?) -> Bool {
    guard let link else { return true }
    return state.withLock { state in
      guard let index = state.open.firstIndex(where: { $0.link === link }) else { return false }
      state.open[index].userCount += 1
      return true
    }
  }

  /// Removes a user of a link. If it was the last user, ends the link. If the link has ended already, the call has no
  /// effect.
  ///
  /// - Parameter link: The link; `nil` for this machine.
  func release(_ link: RelayLink?) {
    guard let link else { return }
    let isOver = state.withLock { state in
      guard let index = state.open.firstIndex(where: { $0.link === link }) else { return false }
      state.open[index].userCount -= 1
      guard state.open[index].userCount == 0 else { return false }
      state.open.remove(at: index)
      let now = MonitorTime.now
      state.released.removeAll { now - $0.time > Self.longestEnd }
      state.released.append((link, now))
      return true
    }
    if isOver { link.invalidate() }
  }

  /// Ends all links, also those that are opened later. Blocks the calling thread until the commands of the links have
  /// ended or were killed, at most for 1 s.
  func close() {
    let links = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.open.map(\.link) + state.released.map(\.link)
    }
    RelayLink.end(links)
  }
}
