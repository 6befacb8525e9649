// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A running demo with its queues and operations: one of the workloads that ``Demo`` lists.
///
/// Any thread may call any method. None of its operations is on `OperationQueue.main`.
public protocol DemoWorkload: AnyObject, Sendable {
  /// Adds the first operations.
  ///
  /// A second call, or a call after `shutDown()`, does nothing.
  func start()

  /// Calls a handler once, on any thread, when a run with `isOnce` has finished. If the run has already
  /// finished, the handler is called before this function returns.
  ///
  /// The handler is never called if the run has no end, or if it is shut down earlier.
  func whenFinished(_ handler: @escaping @Sendable () -> Void)

  /// The error that has occurred; `nil` if there was none.
  var failure: WorkloadError? { get }

  /// Cancels all operations and waits for at most 1 s until they have ended. It blocks the thread.
  ///
  /// Deadlocks are resolved, and suspended queues are resumed. Operations that still run when it returns end
  /// by themselves. A second call does nothing.
  func shutDown()
}
