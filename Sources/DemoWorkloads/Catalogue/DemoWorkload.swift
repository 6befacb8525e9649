// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A running demo with its queues and operations. ``Demo`` lists all demos.
///
/// Any thread may call any method. No operation of a workload is on `OperationQueue.main`.
public protocol DemoWorkload: AnyObject, Sendable {
  /// Starts the workload by adding its first operations.
  ///
  /// A second call, or a call after `shutDown()`, does nothing.
  func start()

  /// Calls a handler once, on any thread, when a workload that runs once (`isOnce`) has finished. If the
  /// workload has already finished, the handler is called before this function returns.
  ///
  /// The handler is never called if the workload has no end, or if it is shut down before its end.
  func whenFinished(_ handler: @escaping @Sendable () -> Void)

  /// The error that the workload has encountered; `nil` if no error has occurred.
  var failure: WorkloadError? { get }

  /// Cancels all operations and waits for at most 1 s until they have ended. The method blocks the calling
  /// thread.
  ///
  /// The method resolves deadlocks and resumes suspended queues. Operations that still run when the method
  /// returns end by themselves. A second call does nothing.
  func shutDown()
}
