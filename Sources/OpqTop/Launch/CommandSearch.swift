// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dispatch
import MonitorClient
import Synchronization

/// Searches for processes of a command that listen, until the search is finished. The first process is watched. Each
/// further process is released from its wait for this viewer, and is not watched. All members can be used on any
/// thread.
final class CommandSearch: Sendable {
  /// The interval of the search before a process was found, and the interval after it.
  private static let (firstInterval, laterInterval) = (20, 100)

  private struct State {
    var search: ListenerSearch
    /// The path of the process that was found and not taken yet.
    var found: String?
    var isWanted = true
    var releasedCount = 0
    /// The paths of processes that could not be watched. Other processes are chosen first.
    var failed: Set<String> = []
  }

  private let state: Mutex<State>
  private let waker: Waker
  private let queue = DispatchQueue(label: "opq-search")
  private let finishing = DispatchSemaphore(value: 0)

  /// Begins to search.
  ///
  /// - Parameters:
  ///   - search: The search, which has found nothing yet.
  ///   - waker: The waker to ring when a process was found.
  init(_ search: ListenerSearch, waker: Waker) {
    state = Mutex(State(search: search))
    self.waker = waker
    queue.async { [self] in
      var isFinishing = false
      while !isFinishing {
        let isWanted = look()
        let interval = isWanted ? Self.firstInterval : Self.laterInterval
        isFinishing = finishing.wait(timeout: .now() + .milliseconds(interval)) == .success
      }
      _ = look()
    }
  }

  /// Returns the path of the socket of the process to watch, and forgets it; `nil` if none was found.
  func takeFound() -> String? { state.withLock { $0.found.take() } }

  /// Makes the search choose again, because the chosen process could not be watched. The search chooses another
  /// process, or the same process if it begins to listen only now.
  func chooseAgain(after path: String) {
    state.withLock { state in
      state.search.forget(path)
      state.failed.insert(path)
      state.isWanted = true
    }
  }

  /// The number of processes that listened and are not watched.
  var releasedCount: Int { state.withLock { $0.releasedCount } }

  /// Searches once more, and then ends the search. A second call has no effect.
  func finish() {
    finishing.signal()
    queue.sync {}
  }

  /// Searches once. Returns whether a process to watch is still wanted.
  private func look() -> Bool {
    let (released, hasFound, isWanted) = state.withLock { state in
      let new = state.search.findNew()
      let failed = state.failed
      var paths = (new.filter { !failed.contains($0) } + new.filter(failed.contains))[...]
      var hasFound = false
      if state.isWanted, let first = paths.popFirst() {
        (state.found, state.isWanted, hasFound) = (first, false, true)
      }
      state.releasedCount += paths.count
      return (paths, hasFound, state.isWanted)
    }
    for path in released where !ListenerSearch.release(path) {
      state.withLock { state in
        state.search.forget(path)
        state.releasedCount -= 1
      }
    }
    if hasFound { waker.ring() }
    return isWanted
  }
}
