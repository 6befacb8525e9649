// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One wait of a task, which ends when it is woken or, if it is to, when the task is cancelled.
///
/// Waking, cancelling and beginning to wait may come in any order and at once: the task is resumed
/// exactly once.
final class WaitingTask: Waiter {
  private enum State {
    /// The task is on its way to `wait`.
    case early
    case waiting(CheckedContinuation<Bool, Never>)
    /// What the wait has ended with.
    case ended(wasWoken: Bool)
  }

  private let state = Locked(State.early)

  /// Suspends the calling task until it is woken or cancelled.
  ///
  /// - Returns: Whether it was woken; `false` where the task was cancelled before that.
  /// - Precondition: Nobody waits. One wait, of either kind, is all there is.
  func wait() async -> Bool {
    await withTaskCancellationHandler {
      await suspend()
    } onCancel: {
      end(wasWoken: false)
    }
  }

  /// Suspends the calling task until it is woken, cancelled or not.
  ///
  /// - Precondition: Nobody waits.
  func waitRegardless() async { _ = await suspend() }

  private func suspend() async -> Bool {
    ThreadShortage.taskBeganWaiting()
    defer { ThreadShortage.taskEndedWaiting() }
    return await withCheckedContinuation { continuation in
      if let wasWoken = begin(continuation) { continuation.resume(returning: wasWoken) }
    }
  }

  func wake() { end(wasWoken: true) }

  /// - Returns: What the wait has ended with already.
  private func begin(_ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
    state.withLock { state in
      switch state {
      case .early:
        state = .waiting(continuation)
        return nil
      case .waiting: preconditionFailure("A second task waits where one is meant to")
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

/// Somebody who waits for something that happens once.
protocol Waiter: AnyObject, Sendable {
  /// It has happened. Called outside every lock, at most once, on any thread; must not block.
  func wake()
}
