// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import MonitorProtocol
import Synchronization

/// The search for processes of another machine, for the picker. All members can be used on any thread.
final class RemoteSearch: Sendable {
  /// The maximum age of a link that is used for another search. A link knows the processes that existed at its
  /// beginning, so only a new link finds new processes. A new link is a login, which must not happen at each search.
  private static let longestAge = Duration.seconds(10)

  private struct State {
    /// The link of the last search; `nil` if there is none, or if a source uses it.
    var link: RelayLink?
    /// The time at which the link was opened.
    var opened = MonitorTime(nanoseconds: 0)
    /// The processes that the last search has found.
    var processes: [ProcessChoice.ID: LocatedProcess] = [:]
  }

  private let place: RemotePlace
  private let links: RelayLinks
  private let state = Mutex(State())

  /// Creates a search that has found nothing yet; `nil` for this machine.
  ///
  /// - Parameters:
  ///   - place: The machine; `nil` for this machine.
  ///   - links: The links of the run.
  init?(_ place: RemotePlace?, _ links: RelayLinks) {
    guard let place else { return nil }
    self.place = place
    self.links = links
  }

  /// Finds the processes that can be watched. Blocks the calling thread until they have answered.
  ///
  /// - Returns: The processes, sorted by process id.
  /// - Throws: ``AttachError`` if the machine cannot be reached.
  func find() throws -> [ProcessChoice] {
    let link = currentLink()
    let found: [ProcessFinder.Found]
    do {
      found = try place.naming { try ProcessFinder.find(through: link) }
    } catch {
      // A link that has failed does not answer later.
      state.withLock { if $0.link === link { $0.link = nil } }
      link.invalidate()
      throw error
    }
    let processes = found.map { LocatedProcess($0, on: place) }
    state.withLock { state in
      // A source can have taken the link in the meantime.
      guard state.link === link else { return }
      state.processes = Dictionary(
        processes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
    return zip(found, processes).map { ProcessChoice($0, id: $1.id) }
  }

  private func currentLink() -> RelayLink {
    let (link, old) = state.withLock { state -> (RelayLink?, RelayLink?) in
      guard state.link == nil || .now - state.opened > Self.longestAge else {
        return (state.link, nil)
      }
      defer { state.link = nil }
      return (nil, state.link)
    }
    if let link { return link }
    old?.invalidate()
    let new = links.open(place, [])
    state.withLock { ($0.link, $0.opened) = (new, .now) }
    return new
  }

  /// Returns a process that the last search has found. Its link then belongs to the caller, and the next search opens
  /// another one.
  ///
  /// - Parameter id: The id of the process.
  /// - Returns: The process; `nil` if the last search has not found it.
  func takeProcess(_ id: ProcessChoice.ID) -> LocatedProcess? {
    state.withLock { state in
      guard let process = state.processes[id] else { return nil }
      state.link = nil
      state.processes = [:]
      return process
    }
  }
}
