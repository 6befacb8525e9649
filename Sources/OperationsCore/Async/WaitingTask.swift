// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One wait of a task. The wait ends when another thread calls `wake()` or, in ``wait()``, when the
/// task is cancelled.
///
/// Waking, cancelling and the beginning of the wait may come in any order and concurrently. The
/// task is resumed exactly once.
final class WaitingTask: Waiter {
  private enum State {
    /// The task has not begun to wait.
    case early
    case waiting(CheckedContinuation<Bool, Never>)
    /// The wait of the task has ended.
    case ended(wasWoken: Bool)
  }

  private let state = Locked(State.early)

  /// Suspends the calling task until it is woken or cancelled.
  ///
  /// - Returns: Whether the task was woken; `false` if the task was cancelled first.
  /// - Precondition: Neither ``wait()`` nor ``waitRegardless()`` was called before.
  func wait() async -> Bool {
    await withTaskCancellationHandler {
      await suspend()
    } onCancel: {
      end(wasWoken: false)
    }
  }

  /// Suspends the calling task until it is woken, even if it is cancelled.
  ///
  /// - Precondition: Neither ``wait()`` nor ``waitRegardless()`` was called before.
  func waitRegardless() async { _ = await suspend() }

  private func suspend() async -> Bool {
    ThreadShortage.taskBeganWaiting()
    defer { ThreadShortage.taskEndedWaiting() }
    return await withCheckedContinuation { continuation in
      if let wasWoken = begin(continuation) { continuation.resume(returning: wasWoken) }
    }
  }

  func wake() { end(wasWoken: true) }

  /// Begins the wait, unless it has already ended.
  ///
  /// - Returns: The result of the wait if it has already ended; otherwise `nil`.
  private func begin(_ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
    state.withLock { state in
      switch state {
      case .early:
        state = .waiting(continuation)
        return nil
      case .waiting: preconditionFailure("Only one task can wait")
      case .ended(let wasWoken): return wasWoken
      }
    }
  }

  private func end(wasWoken: Bool) {
    let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      switch state {
      case .early:
        state = .ended(wasWoken: wasWoken)
        return nil
      case .waiting(let continuation):
        state = .ended(wasWoken: wasWoken)
        return continuation
      case .ended: return nil
      }
    }
    continuation?.resume(returning: wasWoken)
  }
}

/// An object that waits for an event that happens once.
protocol Waiter: AnyObject, Sendable {
  /// Handles that the event has happened. Called at most once, on any thread, outside every lock.
  /// An implementation must not block.
  func wake()
}
