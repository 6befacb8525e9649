// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Operations and queues at work for somebody to watch: one of the workloads that ``Demo`` lists.
///
/// Any thread may call any method. None of its operations is on `OperationQueue.main`.
public protocol DemoWorkload: AnyObject, Sendable {
  /// Adds the first operations.
  ///
  /// Once is enough: a second time, or after `shutDown()`, it does nothing.
  func start()

  /// Calls a handler once, on any thread, when a once-run has finished; at once, before it
  /// returns, if it already has.
  ///
  /// Never calls it when the run goes on for ever, or is shut down before.
  func whenFinished(_ handler: @escaping @Sendable () -> Void)

  /// What could not be done so far; `nil` while everything could.
  var failure: WorkloadError? { get }

  /// Cancels everything and waits until it is over, for at most 1 s. Blocks.
  ///
  /// Deadlocks are undone, and queues that were suspended resumed. What still runs when it returns
  /// ends by itself. A second time it does nothing.
  func shutDown()
}
