// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The task-local values of the code that creates an object of this class.
///
/// Swift has no function that copies all task-local values. A task that is created with `Task` inherits them,
/// so this object keeps such a task, which is suspended until ``perform(_:)`` is called or the object is
/// released.
final class TaskLocalValues: Sendable {
  private let keeper = Keeper()

  /// Keeps the task-local values of the calling thread or task.
  init() {
    // The task begins on this thread and is suspended at once, so it needs no other thread. It does not
    // retain this object.
    Task.immediate { [keeper] in
      let body = await withUnsafeContinuation { keeper.wait($0) }
      body?()
    }
  }

  deinit { keeper.end(nil) }

  /// Calls `body` soon, with the task-local values, on a thread of Swift's concurrency runtime. Called at most
  /// once.
  func perform(_ body: @escaping @Sendable () -> Void) { keeper.end(body) }
}

/// The suspended task of a ``TaskLocalValues``.
private final class Keeper: Sendable {
  typealias Body = @Sendable () -> Void

  private enum State {
    /// The task has not begun to wait.
    case early
    case waiting(UnsafeContinuation<Body?, Never>)
    /// The work of the task is known; `nil` if it has none.
    case ended(Body?)
  }

  private let state = Locked(State.early)

  func wait(_ continuation: UnsafeContinuation<Body?, Never>) {
    let before = state.withLock { state -> State in
      defer { if case .early = state { state = .waiting(continuation) } }
      return state
    }
    if case .ended(let body) = before { continuation.resume(returning: body) }
  }

  /// Ends the task after it has called `body`. A second call has no effect.
  func end(_ body: Body?) {
    let before = state.withLock { state -> State in
      defer { if case .ended = state {} else { state = .ended(body) } }
      return state
    }
    if case .waiting(let continuation) = before { continuation.resume(returning: body) }
  }
}
