// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore

/// The events of one job, in their order, for one task that takes them.
///
/// It is not an `AsyncStream`, because the task waits for a limited time. A wait for an element of a stream ends early
/// only if its task is cancelled, and a cancelled task cannot wait for the next events.
final class SlurmMailbox: Sendable {
  private struct State {
    var events: [SlurmJob.Event] = []
    var waiting: CheckedContinuation<Void, Never>?
    var wait = 0
  }

  private let state = Locked(State())

  /// Adds an event. Any thread may call it.
  func post(_ event: SlurmJob.Event) {
    state.withLock { state in
      state.events.append(event)
      return state.waiting.take()
    }?.resume()
  }

  /// Takes the next event. Waits for it, but not longer than a limit. Only one task may call it at a time.
  ///
  /// - Parameter limit: The maximum time of the wait.
  /// - Returns: The event; `nil` if the time has passed.
  func next(atMost limit: Duration) async -> SlurmJob.Event? {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if !state.events.isEmpty { return nil }
        state.waiting = continuation
        state.wait += 1
        return state.wait
      }
      guard let number else { return continuation.resume() }
      let milliseconds = Int(limit / .milliseconds(1))
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
        [weak self] in self?.endWait(number)
      }
    }
    return state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
  }

  private func endWait(_ number: Int) {
    state.withLock { state in state.wait == number ? state.waiting.take() : nil }?.resume()
  }
}
