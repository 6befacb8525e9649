// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

#if !canImport(ObjectiveC)
  import Foundation
  import OperationsCore
  import Synchronization

  /// The progress of a queue, which counts the operations that leave the queue after the total has been set.
  ///
  /// Foundation's `Progress` on Linux has no lock of its own. Every change of the counts goes through
  /// `updates`. The change is applied outside the lock of `updates`, because `Progress` calls its parents,
  /// which may be of any class.
  // Unchecked `Sendable` conformance, because the compiler cannot check `Progress`. The stored values are
  // constant or thread-safe.
  final class QueueProgress: Progress, @unchecked Sendable {
    private weak let queue: OperationsCore.OperationQueue?
    private let updates = Locked(ProgressUpdates())
    private let isCounting = Atomic<Bool>(false)
    private let cancelsOperationsFlag = Atomic<Bool>(false)
    /// A copy of the `isCancelled` of this progress that other threads may read.
    private let wasCancelled = Atomic<Bool>(false)

    init(queue: OperationsCore.OperationQueue) {
      self.queue = queue
      super.init(parent: nil, userInfo: nil)
    }

    // MARK: Counts

    override var totalUnitCount: Int64 {
      get { updates.withLock { $0.counts ?? counts }.total }
      set {
        update(ProgressUpdates.Step(total: newValue))
        // Counting begins after the total is set, so that each counted operation finds the total.
        beginCounting()
      }
    }

    override var completedUnitCount: Int64 {
      get { updates.withLock { $0.counts ?? counts }.completed }
      set { update(ProgressUpdates.Step(completed: newValue)) }
    }

    /// The counts that the superclass `Progress` contains.
    ///
    /// - Precondition: The lock of `updates` is held, and no thread applies changes.
    private var counts: ProgressUpdates.Counts {
      ProgressUpdates.Counts(total: super.totalUnitCount, completed: super.completedUnitCount)
    }

    private func beginCounting() {
      guard !isCounting.exchange(true, ordering: .relaxed) else { return }
      // The closure that counts finished operations may retain this progress, because the queue retains the
      // progress in any case, and because the progress does not retain the queue.
      queue?.countFinishes { [self] count in
        update(ProgressUpdates.Step(finished: Int64(count)))
      }
    }

    private func update(_ step: ProgressUpdates.Step) {
      guard updates.withLock({ $0.add(step, to: counts) }) else { return }
      while let step = updates.withLock({ $0.takeStep() }) { apply(step) }
    }

    private func apply(_ step: ProgressUpdates.Step) {
      if let total = step.total { super.totalUnitCount = total }
      guard step.completed != nil || step.finished != 0 else { return }
      super.completedUnitCount = (step.completed ?? super.completedUnitCount) + step.finished
    }

    // MARK: Cancelling

    /// Whether ``cancel()`` cancels the operations in the queue.
    var cancelsOperations: Bool {
      get { cancelsOperationsFlag.load(ordering: .relaxed) }
      set {
        isCancellable = newValue
        cancelsOperationsFlag.store(newValue, ordering: .sequentiallyConsistent)
        // This thread stores `cancelsOperationsFlag` and then reads `wasCancelled`. A thread in `cancel()`
        // stores `wasCancelled` and then reads `cancelsOperationsFlag`. If the threads race, at least one of
        // them sees the value of the other thread.
        if newValue, wasCancelled.load(ordering: .sequentiallyConsistent) {
          queue?.cancelAllOperations()
        }
      }
    }

    override func cancel() {
      super.cancel()
      wasCancelled.store(true, ordering: .sequentiallyConsistent)
      if cancelsOperationsFlag.load(ordering: .sequentiallyConsistent) {
        queue?.cancelAllOperations()
      }
    }
  }
#endif
