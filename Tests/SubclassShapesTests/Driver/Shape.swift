// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if CORPUS_FOUNDATION
  import Foundation
#else
  import Operations
#endif

/// A common way of writing subclasses of `Operation`, or of `OperationQueue`.
struct Shape: Sendable {
  /// A word for the command line, in the style of a Swift name.
  let name: String

  /// The behavior of the class, for the table in the documentation.
  let summary: String

  /// Whether a cancelled operation does its work nevertheless.
  var worksWhenCancelled = false

  /// Whether `cancel()` finishes the operation, so that it may not be added to a queue afterwards.
  var finishesInCancel = false

  /// Whether the subclass's `isFinished` stays `false` if the base class skips the work of a
  /// cancelled operation. Its dependents then start although it is `false`.
  var staysUnfinishedWhenSkipped = false

  /// Creates the queue for the operations.
  var makeQueue: @Sendable () -> OperationQueue = { OperationQueue() }

  /// Adds an operation to the queue, or arranges for it to be added later. `nil` if the driver may
  /// add it in any way.
  var enqueue: (@Sendable (Operation, OperationQueue) -> Void)?

  /// Creates an operation that does the job.
  let make: @Sendable (Job) -> Operation
}
