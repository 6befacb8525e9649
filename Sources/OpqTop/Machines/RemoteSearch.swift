// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import Synchronization

/// The search for processes of another machine, for the picker. All members can be used on any thread.
///
/// A link knows the processes that existed at its beginning, so only a new link finds new processes. A new link is a
/// login, so it is opened only if the user requests a search. Other searches do not start the command of a link that was
/// lost.
final class RemoteSearch: Sendable {
  private struct State {
    /// Whether the picker is open.
    var isWanted = false
    /// The number of times that the picker was closed.
    var closeCount = 0
    /// The link of the searches; `nil` if there is none.
    var link: RelayLink?
    /// Whether a search has used the link.
    var isLinkUsed = false
    /// The error of the last search that has ended; `nil` if it has found processes, or if the user has requested another
    /// search.
    var failure: (any Error)?
    /// The processes that the last successful search has found.
    var processes: [ProcessChoice.ID: LocatedProcess] = [:]

    /// Returns the link for a search; `nil` if the search needs a new link.
    mutating func takeLink(isRequested: Bool) throws -> RelayLink? {
      if isRequested {
        defer { isLinkUsed = true }
        return isLinkUsed ? nil : link
      }
      if let failure { throw failure }
      guard let link else { throw RemoteSearch.ended }
      return link
    }

    /// Records the error of a search. The list still shows the processes of the previous link, and the user can choose
    /// one of them. Therefore the previous link replaces the link of the search.
    ///
    /// - Returns: The link that is no longer used; `nil` if there is none.
    mutating func fail(
      _ error: any Error, of failed: RelayLink, old: RelayLink?
    ) -> RelayLink? {
      // The picker can have been closed in the meantime.
      guard link === failed else { return old }
      failure = error
      guard let old else { return nil }
      link = old
      return failed
    }
  }

  private let place: RemotePlace
  private let links: RelayLinks
  private let state: Mutex<State>

  /// Creates a search that has found nothing yet; `nil` for this machine.
  ///
  /// - Parameters:
  ///   - place: The machine; `nil` for this machine.
  ///   - links: The links of the run.
  ///   - link: A link to all processes of the machine, which then belongs to the search; `nil` if there is none.
  init?(_ place: RemotePlace?, _ links: RelayLinks, _ link: RelayLink? = nil) {
    guard let place else { return nil }
    self.place = place
    self.links = links
    state = Mutex(State(link: link))
  }

  /// Records that the picker is open.
  func begin() { state.withLock { $0.isWanted = true } }

  /// Records that the picker is closed. Ends the link, unless a source uses it. A second call has no effect.
  func end() {
    let link = state.withLock { state in
      defer { state = State(closeCount: state.closeCount + 1) }
      return state.link
    }
    links.release(link)
  }

  /// Finds the processes that can be watched. Blocks the calling thread until they have answered.
  ///
  /// - Parameter isRequested: Whether the user has requested the search. Otherwise, it finds only processes that the
  ///   previous search has found, and repeats the error of the previous search.
  /// - Returns: The processes, sorted by process id.
  /// - Throws: ``AttachError`` if the machine cannot be reached, if the link was lost, or if the picker is closed.
  func find(isRequested: Bool) throws -> [ProcessChoice] {
    let (link, old) = try self.link(isRequested: isRequested)
    let found: [ProcessFinder.Found]
    do {
      found = try place.naming { try ProcessFinder.find(through: link) }
    } catch {
      links.release(state.withLock { $0.fail(error, of: link, old: old) })
      throw error
    }
    // The user can choose a process of the previous link until the search has ended.
    defer { links.release(old) }
    let processes = found.map { LocatedProcess($0, on: place) }
    state.withLock { state in
      // The picker can have been closed in the meantime.
      guard state.link === link else { return }
      state.processes = Dictionary(
        processes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }
    return zip(found, processes).map { ProcessChoice($0, id: $1.id) }
  }

  /// Returns the link for a search, and the link that it replaces.
  private func link(isRequested: Bool) throws -> (RelayLink, old: RelayLink?) {
    let (present, closeCount) = try state.withLock { state in
      guard state.isWanted else { throw Self.ended }
      return (try state.takeLink(isRequested: isRequested), state.closeCount)
    }
    if let present { return (present, nil) }
    let new = links.open(place, [])
    let (isTaken, old) = state.withLock { state -> (Bool, RelayLink?) in
      // The picker can have been closed in the meantime, and opened again.
      guard state.closeCount == closeCount else { return (false, nil) }
      defer { (state.link, state.failure) = (new, nil) }
      return (true, state.link)
    }
    guard isTaken else {
      links.release(new)
      throw Self.ended
    }
    return (new, old)
  }

  private static let ended = AttachError(.lost, "the search has ended")

  /// Returns a process that the last successful search has found. The caller is then a user of its link, and must
  /// release it.
  ///
  /// - Parameter id: The id of the process.
  /// - Returns: The process; `nil` if this search has not found it, or if its link has ended.
  func takeProcess(_ id: ProcessChoice.ID) -> LocatedProcess? {
    let process = state.withLock { $0.processes[id] }
    guard let process, links.share(process.link) else { return nil }
    return process
  }

  /// Releases the link of a process.
  ///
  /// - Parameter process: A process that ``takeProcess(_:)`` has returned.
  func release(_ process: LocatedProcess) { links.release(process.link) }
}
