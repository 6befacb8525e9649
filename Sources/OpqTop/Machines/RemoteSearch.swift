// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorClient
import Synchronization

/// The search for processes of another machine, for the picker. All members can be used on any thread.
///
/// A link knows the processes that existed at its beginning, so only a new link finds new processes. A new link is a
/// login, so it is opened only if the user requests a search.
final class RemoteSearch: Sendable {
  private struct State {
    /// Whether the picker is open.
    var isWanted = false
    /// The link of the searches; `nil` if there is none.
    var link: RelayLink?
    /// Whether a search has used the link.
    var isLinkUsed = false
    /// The error of the last search; `nil` if it has found processes.
    var failure: (any Error)?
    /// The processes that the last search has found.
    var processes: [ProcessChoice.ID: LocatedProcess] = [:]
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
      defer { state = State() }
      return state.link
    }
    links.release(link)
  }

  /// Finds the processes that can be watched. Blocks the calling thread until they have answered.
  ///
  /// - Parameter isRequested: Whether the user has requested the search. Otherwise, it finds only processes that the
  ///   previous search has found, and repeats the error of the previous search.
  /// - Returns: The processes, sorted by process id.
  /// - Throws: ``AttachError`` if the machine cannot be reached, or if the picker is closed.
  func find(isRequested: Bool) throws -> [ProcessChoice] {
    let (link, old) = try currentLink(isRequested: isRequested)
    // The user can choose a process of the previous link during the search.
    defer { links.release(old) }
    let found: [ProcessFinder.Found]
    do {
      found = try place.naming { try ProcessFinder.find(through: link) }
    } catch {
      fail(error, of: link)
      throw error
    }
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
  private func currentLink(isRequested: Bool) throws -> (RelayLink, old: RelayLink?) {
    try state.withLock { state in
      guard state.isWanted else { throw AttachError(.lost, "the search has ended") }
      if !isRequested, let failure = state.failure { throw failure }
      let (link, isUsed) = (state.link, state.isLinkUsed)
      state.isLinkUsed = true
      if let link, !isRequested || !isUsed { return (link, nil) }
      let new = links.open(place, [])
      state.link = new
      return (new, link)
    }
  }

  /// Ends the link of a search that has failed. A later search needs a new link, because this one repeats its failure.
  private func fail(_ error: any Error, of link: RelayLink) {
    let isCurrent = state.withLock { state in
      guard state.link === link else { return false }
      (state.link, state.failure, state.processes) = (nil, error, [:])
      return true
    }
    if isCurrent { links.release(link) }
  }

  /// Returns a process that the last search has found. The caller is then a user of its link, and must release it.
  ///
  /// - Parameter id: The id of the process.
  /// - Returns: The process; `nil` if the last search has not found it.
  func takeProcess(_ id: ProcessChoice.ID) -> LocatedProcess? {
    state.withLock { state in
      guard let process = state.processes[id], links.share(process.link) else { return nil }
      return process
    }
  }

  /// Releases the link of a process.
  ///
  /// - Parameter process: A process that ``takeProcess(_:)`` has returned.
  func release(_ process: LocatedProcess) { links.release(process.link) }
}
