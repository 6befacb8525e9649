// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Synchronization

extension QueueCore {
  /// The dispatch queue that operations run on, if they do not run on our own workers.
  var underlyingQueue: DispatchQueue? {
    withScheduler { scheduler, _ in scheduler.underlying?.queue }
  }

  /// Sets the dispatch queue that operations run on from now on; `nil` for our own workers.
  ///
  /// Workers and blocks of before may still be on their way: they will find that nothing here is
  /// for them.
  ///
  /// - Returns: `false`, with nothing changed, where the queue has operations.
  func setUnderlyingQueue(_ queue: DispatchQueue?) -> Bool {
    let (isSet, replaced) = withScheduler { scheduler, _ in
      guard scheduler.isEmpty else { return (false, queue) }
      let replaced = scheduler.underlying?.queue
      scheduler.setUnderlyingQueue(queue)
      isOnDispatch.store(queue != nil, ordering: .sequentiallyConsistent)
      return (true, replaced)
    }
    // Released after the lock: it may be the last reference.
    withExtendedLifetime(replaced) {}
    // Who pushed before it could see `isOnDispatch` submits no block, and perhaps found the gate
    // shut: what it pushed is found now.
    if isSet { withScheduler { _, _ in } }
    return isSet
  }

  /// Whether the operations run on the main dispatch queue, as those of ``OperationQueue/main`` do.
  var isOnMainDispatchQueue: Bool {
    isOnDispatch.load(ordering: .acquiring)
      && withScheduler { scheduler, _ in scheduler.underlying?.isMain == true }
  }

  var underlyingQualityOfService: QualityOfService? {
    withScheduler { scheduler, _ in scheduler.underlying?.qualityOfService }
  }

  /// Submits the blocks that are missing. The caller holds a reference to the queue.
  // Out of line, for the sake of queues without an underlying one, whose every step could end here.
  @inline(never)
  func submitBlocks() {
    let (count, target) = withScheduler { scheduler, _ in
      (scheduler.claimBlocks(), scheduler.underlying)
    }
    guard count > 0, let target else { return }
    // Held by each block: a queue goes away when its last one has come to its end.
    let owner = owner.takeUnretainedValue()
    let generation = target.generation
    for _ in 0..<count {
      target.queue.async { owner.core.runBlock(of: generation) }
    }
  }

  /// What one block does: it takes an operation, runs it, and retires it.
  private func runBlock(of generation: UInt64) {
    let taken = withScheduler { scheduler, _ in
      scheduler.blockBegan(generation).map(StartableOperation.init)
    }
    guard let taken else { return }
    var scope = CurrentWork.Scope(
      servedQueue: .passUnretained(self), isOnMainQueue: MainDispatchQueue.isRunningHere)
    CurrentWork.withScope(&scope) { scope in
      scope.pointee.operation = taken.reference
      var work = start(taken, scope)
      scope.pointee.operation = nil
      finishAnnouncing(&work)
      if !taken.isPlain { taken.reference.release() }
    }
  }
}
