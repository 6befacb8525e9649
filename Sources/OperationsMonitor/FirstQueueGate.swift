// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Dispatch
import OperationsCore

/// Makes the work before the first queue happen once. Other threads that create a queue wait until it is done, so
/// that no operation runs earlier.
final class FirstQueueGate: Sendable {
  private enum State {
    case closed
    /// A thread does the work.
    case opening(thread: UInt64)
    case open
  }

  private let state = Locked(State.closed)
  private let opening = DispatchGroup()

  /// Does the work if no other thread has begun it. Otherwise waits until it is done.
  ///
  /// - Parameters:
  ///   - patience: The maximum time of the wait.
  ///   - mayWait: Whether this thread may wait for the work of another thread.
  ///   - work: The work. If it creates a queue itself, this queue does not wait.
  /// - Returns: Whether later queues need not call this method: the work is done, or this thread has waited for it as
  ///   long as it may.
  func pass(patience: DispatchTimeInterval, mayWait: () -> Bool, work: () -> Void) -> Bool {
    let thread = csystem_thread_number()
    let (isFirst, isOpen, isOwn) = state.withLock { state in
      switch state {
      case .closed:
        state = .opening(thread: thread)
        opening.enter()
        return (true, false, false)
      case .opening(let other): return (false, false, other == thread)
      case .open: return (false, true, false)
      }
    }
    if isFirst {
      work()
      state.withLock { $0 = .open }
      opening.leave()
    } else if !isOpen {
      guard !isOwn, mayWait() else { return false }
      _ = opening.wait(timeout: .now() + patience)
    }
    return true
  }
}
