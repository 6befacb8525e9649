// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationQueueSupplement where Self: OperationsCore.OperationQueue {
    /// The progress of the queue's work, in numbers of operations.
    ///
    /// Nothing is reported until `totalUnitCount` is set to the expected number of operations. From then on
    /// each operation that finishes adds 1 to `completedUnitCount`, exactly once. This includes operations
    /// that were in the queue when the total was set, and operations that are added later. Barriers do not
    /// count. The caller sets the total: adding operations does not change it. To begin the next batch, set
    /// both counts, preferably while nothing runs or in a barrier block; otherwise the fraction decreases.
    ///
    /// An operation is counted before it leaves the queue. A caller that waits for the operation or for the
    /// queue finds the correct `completedUnitCount`. A caller that waits for the queue also finds the correct
    /// `fractionCompleted` and correct parent progress. While other operations finish, these may lag behind
    /// for a moment.
    ///
    /// Every kind of operation counts, however it has finished, including asynchronous operations and
    /// operations that were cancelled before they could start. On Apple platforms an operation counts only if
    /// `Operation.start()` calls its `main()`. On Apple platforms, a `Progress` that `main()` reports is a
    /// part of that operation's unit. In this library it is not.
    ///
    /// The counts may be read and set on any thread. On Linux the rest of `Progress` is not thread-safe: make
    /// it a child of another progress, or give it children, before operations run.
    ///
    /// The value is always the same object, which is created on the first access. If this property is not
    /// used, it costs nothing. The progress does not retain the queue. Its `cancel()` only sets a flag,
    /// unless ``cancelsOperationsWithProgress`` is `true`.
    ///
    /// Source: Apple, "OperationQueue.progress".
    public var progress: Progress { foundationCompanion.progress }

    /// Whether cancelling ``progress``, or one of its parents, calls `cancelAllOperations()`; `false` by
    /// default, as on Apple platforms.
    ///
    /// The operations are cancelled before `cancel()` returns, on the thread that calls it. Operations that
    /// are added later are not cancelled. If the progress has already been cancelled, setting this property
    /// cancels the operations that are in the queue at that moment. The progress' `isCancellable` is set to
    /// the same value.
    public var cancelsOperationsWithProgress: Bool {
      get { foundationCompanion.progress.cancelsOperations }
      set { foundationCompanion.progress.cancelsOperations = newValue }
    }
  }
#endif
