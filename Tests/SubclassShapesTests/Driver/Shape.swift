// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// A common way of writing subclasses of `Operation`, or of `OperationQueue`.
struct Shape: Sendable {
  /// The name that selects this kind of subclass on the command line, in the style of a Swift name.
  let name: String

  /// The behavior of the class, as text for the table in the documentation.
  let summary: String

  /// Whether a cancelled operation does its work nevertheless.
  var worksWhenCancelled = false

  /// Whether `cancel()` finishes the operation. If it does, a cancelled operation may not be added
  /// to a queue.
  var finishesInCancel = false

  /// Whether the subclass's `isFinished` stays `false` if the base class skips the work of a
  /// cancelled operation. The dependents of the operation then start although its `isFinished` is
  /// `false`.
  var staysUnfinishedWhenSkipped = false

  /// Creates the queue for the operations.
  var makeQueue: @Sendable () -> OperationQueue = { OperationQueue() }

  /// Adds an operation to the queue, or arranges that the operation is added later; `nil` if the
  /// test may add the operation with any function of the queue.
  var enqueue: (@Sendable (Operation, OperationQueue) -> Void)?

  /// Creates an operation of the subclass that does the work of a job.
  let make: @Sendable (Job) -> Operation
}
