// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The members of ``OperationQueue`` that Foundation's class of that name does not have.
///
/// The rules of ``OperationSupplement`` also apply to subclasses of queues: a subclass may have its
/// own `id` or `cancelAllAndResume()`.
///
/// Only ``OperationQueue`` conforms to this protocol.
public protocol OperationQueueSupplement: AnyObject {}

extension OperationQueue: OperationQueueSupplement {}

extension OperationQueueSupplement where Self: OperationQueue {
  /// Identifies the queue, for example in state changes.
  public var id: QueueID { core.id }

  /// Calls ``OperationQueue/addOperation(_:)-(Operation)``, but throws a refusal instead of
  /// trapping.
  ///
  /// - Throws: The reason why the operation was not added. The operation is then unchanged, and can
  ///   be added elsewhere.
  public func tryAddOperation(_ operation: Operation) throws(OperationMisuse) {
    try MisuseScope.run(throwing: [.cannotEnqueue]) { addOperation(operation) }
  }

  /// Calls ``OperationQueue/addOperations(_:waitUntilFinished:)`` without waiting, but throws a
  /// refusal instead of trapping.
  ///
  /// - Throws: The reason why one of the operations was not added. In this case no operation was
  ///   added, and each of the others can be added elsewhere.
  public func tryAddOperations(_ operations: [Operation]) throws(OperationMisuse) {
    try MisuseScope.run(throwing: [.cannotEnqueue]) {
      addOperations(operations, waitUntilFinished: false)
    }
  }

  /// Cancels all operations of the queue like ``OperationQueue/cancelAllOperations()``, and records
  /// the reason.
  ///
  /// This method calls `cancelAllOperations()`. An operation that is added while this method runs may
  /// be cancelled without the reason. Can be called on any thread.
  ///
  /// - Parameter reason: The reason of the cancellation. It becomes the error of each operation that
  ///   has not finished and has no error yet.
  public func cancelAllOperations(with reason: any Error) {
    let operations = core.withScheduler { scheduler, _ in scheduler.allOperations }
    for operation in operations { operation.keepError(reason, at: \.cancellationReason) }
    cancelAllOperations()
  }

  /// Cancels all operations of the queue. If the queue is suspended, it is resumed. If its width is
  /// 0, the width becomes the default width. So the operations can leave the queue.
  ///
  /// Call this method before you release a queue that may be suspended. Such a queue would
  /// otherwise stay alive with its operations. The method returns immediately. The queue can still
  /// be used, and operations that are added later run.
  public func cancelAllAndResume() {
    cancelAllOperations()
    resumeForEnding()
  }
}
