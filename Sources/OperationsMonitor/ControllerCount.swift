// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Counts the attached viewers that may send commands. All members can be used on any thread.
final class ControllerCount: Sendable {
  private struct State {
    var count = 0
    var lastWatcher: UInt64 = 0
    var watchers: [UInt64: AsyncStream<Int>.Continuation] = [:]
  }

  private let state = Locked(State())

  /// Adds a number of viewers, or removes viewers if the number is negative. Only the connections'
  /// thread may call this method, so that watchers receive the counts in order.
  func change(by number: Int) {
    let (count, watchers) = state.withLock { state in
      state.count += number
      return (state.count, Array(state.watchers.values))
    }
    for watcher in watchers { watcher.yield(count) }
  }

  /// Returns a sequence of the present count and of each later count. The sequence never ends.
  func counts() -> AsyncStream<Int> {
    let (stream, watcher) = AsyncStream.makeStream(of: Int.self)
    let number = state.withLock { state in
      state.lastWatcher += 1
      state.watchers[state.lastWatcher] = watcher
      // Nothing waits for an element of the new stream yet, so no other code runs under the lock.
      watcher.yield(state.count)
      return state.lastWatcher
    }
    watcher.onTermination = { [weak self] _ in
      let old = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
      withExtendedLifetime(old) {}
    }
    return stream
  }
}
