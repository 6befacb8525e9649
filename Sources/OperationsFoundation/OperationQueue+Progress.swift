// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  public import Foundation
  public import OperationsCore

  extension OperationQueueSupplement where Self: OperationsCore.OperationQueue {
    /// How much of the queue's work is done, in numbers of operations.
    ///
    /// Nothing is reported until its `totalUnitCount` is set, to how many operations there will be.
    /// From then on each operation that finishes adds 1 to `completedUnitCount`, exactly once: what
    /// was in the queue when it was set, and what is added later. Barriers are no operations. The
    /// total is the user's: adding operations does not change it. To begin with the next batch, set
    /// both counts, best while nothing runs or in a barrier block, or the fraction goes backwards.
    ///
    /// An operation is counted before it leaves the queue: who waits for it, or for the queue, finds
    /// `completedUnitCount` right, and who waits for the queue also `fractionCompleted` and whatever
    /// this is a child of. While other operations finish, these may lag behind for a moment.
    ///
    /// Every kind of operation counts, however it has finished: asynchronous ones, and those that were
    /// cancelled before they could start, too. On Apple platforms only those do whose `main()` is
    /// called by `Operation.start()`; and there what a `main()` reports through a `Progress` of its
    /// own is a part of that operation's unit, which it is not here.
    ///
    /// The counts may be read and set on any thread. The rest of `Progress` is not made for several
    /// threads on Linux: make it a child of another, or give it children, before operations run.
    ///
    /// The same object always, made when it is first asked for; a queue that is never asked pays
    /// nothing. It does not keep the queue alive. Its `cancel()` sets a flag and nothing else, unless
    /// ``cancelsOperationsWithProgress`` is set.
    ///
    /// Source: Apple, "OperationQueue.progress".
    public var progress: Progress { foundationCompanion.progress }

    /// Whether cancelling ``progress``, or a progress that it is part of, cancels the operations that
    /// are in the queue at that moment, by `cancelAllOperations()`; `false` by default, as on Apple
    /// platforms.
    ///
    /// It does so before `cancel()` returns, on the thread that calls that. What is added later is not
    /// cancelled. Setting it where the progress has been cancelled already cancels what is in the
    /// queue then. The progress' `isCancellable` is set to the same value.
    public var cancelsOperationsWithProgress: Bool {
      get { foundationCompanion.progress.cancelsOperations }
      set { foundationCompanion.progress.cancelsOperations = newValue }
    }
  }
#endif
