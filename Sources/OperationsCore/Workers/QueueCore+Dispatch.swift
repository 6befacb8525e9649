// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

extension QueueCore {
  /// The dispatch queue on which operations run; `nil` if they run on the pool's workers.
  var underlyingQueue: DispatchQueue? {
    withScheduler { scheduler, _ in scheduler.underlying?.queue }
  }

  /// Sets the dispatch queue on which operations run from now on; `nil` for the pool's workers.
  ///
  /// Workers and blocks that were requested before this call may still begin after it. They find no
  /// operation.
  ///
  /// - Returns: `false` if the queue has operations. In that case nothing was changed.
  func setUnderlyingQueue(_ queue: DispatchQueue?) -> Bool {
    let (isSet, replaced) = withScheduler { scheduler, _ in
      guard scheduler.isEmpty else { return (false, queue) }
      let replaced = scheduler.underlying?.queue
      scheduler.setUnderlyingQueue(queue)
      isOnDispatch.store(queue != nil, ordering: .sequentiallyConsistent)
      return (true, replaced)
    }
    // The previous dispatch queue is released after the lock, because this reference may be the
    // last one.
    withExtendedLifetime(replaced) {}
    // A thread that pushed an operation before it could see the new value of `isOnDispatch` has
    // submitted no block. It may have requested no worker either, because the width in the gate may
    // have been 0. The critical section below finds this operation.
    if isSet { withScheduler { _, _ in } }
    return isSet
  }

  /// Whether the operations run on the main dispatch queue, like those of ``OperationQueue/main``.
  var isOnMainDispatchQueue: Bool {
    isOnDispatch.load(ordering: .acquiring)
      && withScheduler { scheduler, _ in scheduler.underlying?.isMain == true }
  }

  // MARK: Quality of service

  /// The quality of service of the underlying queue; if that has none, the quality of service that was set.
  var qualityOfService: QualityOfService {
    if isOnDispatch.load(ordering: .acquiring), let level = underlyingQualityOfService {
      return level
    }
    return givenQualityOfService
  }

  /// The quality of service that was set. The underlying queue may override it.
  var givenQualityOfService: QualityOfService {
    get { QualityOfService(rawValue: qualityOfServiceNumber.load(ordering: .relaxed)) ?? .default }
    set { qualityOfServiceNumber.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Whether the queue has the default quality of service. The value is `false` for each queue with an
  /// underlying queue, because its quality of service can be read only under the lock.
  @inline(__always)
  var hasDefaultQualityOfService: Bool {
    qualityOfServiceNumber.load(ordering: .relaxed) == QualityOfService.default.rawValue
      && !isOnDispatch.load(ordering: .relaxed)
  }

  private var underlyingQualityOfService: QualityOfService? {
    withScheduler { scheduler, _ in scheduler.underlying?.qualityOfService }
  }

  /// Submits blocks to the dispatch queue until it has one for each operation that may start. The
  /// caller holds a reference to this queue.
  // The method that submits blocks to a dispatch queue is not inlined. Queues without an underlying
  // queue only check whether they have one, and this check must stay small.
  @inline(never)
  func submitBlocks() {
    if let stepper = scheduler.withLock({ $0.stepper }) { return stepper.noteChange() }
    // Each block retains the queue, so that the queue is released after its last block has ended.
    let owner = owner.takeUnretainedValue()
    var effects = QueueEffects()
    // One thread at a time claims blocks and submits them. Otherwise, this thread could return from an addition while
    // another thread still has to submit the block that it has claimed for the new operation. A block of the user
    // that follows the addition would then come first.
    submission.lock()
    let (count, target) = inSection(&effects) { scheduler, _ in
      (scheduler.claimBlocks(), scheduler.underlying)
    }
    if let target {
      let generation = target.generation
      for _ in 0..<count {
        target.queue.async { owner.core.runBlock(of: generation) }
      }
    }
    submission.unlock()
    perform(&effects)
  }

  /// Does the work of one block that was submitted to the dispatch queue: takes an operation,
  /// executes it, and makes it leave this queue.
  private func runBlock(of generation: UInt64) {
    let taken = withScheduler { scheduler, _ in scheduler.blockBegan(generation) }
    if let taken { execute(taken) }
  }

  /// Executes a chosen operation on the calling thread, and makes it leave this queue.
  func execute(_ taken: StartableOperation) {
    var scope = CurrentWork.Scope(
      servedQueue: .passUnretained(self), isOnMainQueue: MainDispatchQueue.isRunningHere)
    CurrentWork.withScope(&scope) { scope in
      scope.pointee.operation = taken.reference
      var work = start(taken, scope)
      ForkedProcess.check("to return from an operation that called fork()")
      scope.pointee.operation = nil
      retireSeparately(&work)
      if !taken.isPlain { taken.reference.release() }
    }
  }
}
