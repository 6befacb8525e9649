// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The working part of an ``OperationQueue``: the inbox, the lock around the scheduler, the gate of
/// the workers, and the order in which the three are used.
///
/// Lifetime: the public object holds this one, and is itself retained while there is something in
/// the inbox or the scheduler (``isOwnerHeld``): a queue that its user has let go of goes away after its
/// work. Who works on one without a reference of its own takes one (``keepingAlive(_:)``).
// Unchecked because of `ownerReference`, which is set once before another thread can use the queue, and
// `waitingRequest`.
final class QueueCore: @unchecked Sendable {
  let id = QueueID.next()
  private var ownerReference: Unmanaged<OperationQueue>?
  private let inbox = OperationInbox()
  let gate = WorkerGate()
  /// Whether the public object is retained on behalf of what the queue has to do.
  ///
  /// Set by whoever pushes, after the push. Cleared under the scheduler's lock where the queue has
  /// nothing any more; whoever clears it looks at the inbox after that. Both sequentially consistent,
  /// so that of a push and a clearing that meet at least one sees the other. It stays set between two
  /// operations while a worker is there, so that the workers and who adds do not fight over the
  /// reference count.
  private let isOwnerHeld = Atomic<Bool>(false)
  /// The raw value, outside the lock: every block that is added looks at it.
  private let qualityOfServiceNumber = Atomic<Int>(QualityOfService.default.rawValue)
  let scheduler: Locked<QueueScheduler>
  /// Whether operations run on a dispatch queue: the scheduler's answer, written under its lock.
  let isOnDispatch = Atomic<Bool>(false)
  /// Whether somebody observes or has observed the queue's properties.
  let isObserved = Atomic<Bool>(false)
  /// For how many operations that are added a record may still be made before the next reading.
  let newRecords = Atomic<Int>(0)
  /// Whether this is the core of ``OperationQueue/main``, whose properties are fixed.
  let isMain: Bool
  /// The lane of its requests if that does not depend on the width.
  private let fixedLane: WorkerPoolState.Lane?
  let pool: WorkerPool
  /// The number of the request for a worker that waits; 0 if none does. Guarded by the pool's lock.
  @exclusivity(unchecked) var waitingRequest: UInt64 = 0
  /// A copy of the scheduler's `maxConcurrentOperationCount`.
  let declaredWidth = Atomic<Int>(OperationQueue.defaultMaxConcurrentOperationCount)

  init(
    isMain: Bool = false, fixedLane: WorkerPoolState.Lane? = nil, pool: WorkerPool = .shared
  ) {
    self.isMain = isMain
    self.fixedLane = fixedLane
    self.pool = pool
    scheduler = Locked(QueueScheduler(queue: id))
    gate.setWidth(QueueScheduler.widthLimit)
  }

  /// Says whose core this is. Called once, by the public object's initialiser.
  func belongs(to owner: OperationQueue) { ownerReference = .passUnretained(owner) }

  /// The public object. It holds this one, so it is there whenever this one is used.
  var owner: Unmanaged<OperationQueue> {
    guard let ownerReference else { preconditionFailure("The queue was used before it was made") }
    return ownerReference
  }

  /// The copy of the width.
  var currentWidth: Int { declaredWidth.load(ordering: .relaxed) }

  /// The lane of its requests.
  var lane: WorkerPoolState.Lane { fixedLane ?? (currentWidth < 0 ? .shared : .own) }

  var hasMail: Bool { !inbox.isEmpty }

  /// A worker has given up. Whether it should come back: while it searched, a slot may have become
  /// free, the queue been resumed or something pushed, and whoever did that brought in nobody because
  /// somebody was searching.
  func hasWorkAfterSearch() -> Bool {
    var effects = QueueEffects()
    scheduler.withLock { scheduler in
      scheduler.endSection(&effects)
      letGoOfOwner(scheduler, &effects)
    }
    let hasWork = effects.hasWork || hasMail
    effects.hasWork = false
    perform(&effects)
    return hasWork
  }

  /// That of the underlying queue where it has one, else what was set.
  var qualityOfService: QualityOfService {
    get {
      if isOnDispatch.load(ordering: .acquiring), let level = underlyingQualityOfService {
        return level
      }
      return QualityOfService(rawValue: qualityOfServiceNumber.load(ordering: .relaxed)) ?? .default
    }
    set { qualityOfServiceNumber.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Whether the level is the default one, as far as can be told at a glance.
  @inline(__always)
  var hasDefaultQualityOfService: Bool {
    qualityOfServiceNumber.load(ordering: .relaxed) == QualityOfService.default.rawValue
      && !isOnDispatch.load(ordering: .relaxed)
  }

  // MARK: Adding

  /// Takes an operation that nobody else has seen yet.
  @inline(__always)
  func addNew(_ operation: consuming BlockOperation) {
    ForkedProcess.check("to add an operation to a queue")
    operation.status.store(.enqueuedFromTheStart, ordering: .relaxed)
    operation.queue.store(.passUnretained(self), ordering: .relaxed)
    if MonitorLevel.isOn { describe(operation) }
    // Released when the queue lets go of it.
    let reference = Unmanaged<Operation>.passRetained(consume operation)
    pushAnnounced(first: reference, last: reference)
    wakeWorker()
  }

  /// Takes the operations, all or none.
  ///
  /// - Returns: The first one that may not be added, if there is one.
  func add(_ operations: [Operation]) -> Operation? {
    ForkedProcess.check("to add operations to a queue")
    for (index, operation) in operations.enumerated() {
      guard claim(operation) else {
        // Nobody has seen the others: they were not pushed.
        for claimed in operations[..<index] { takeBack(claimed) }
        return operation
      }
    }
    guard let first = operations.first, let last = operations.last else { return nil }
    for operation in operations { _ = prepare(operation) }
    var before = first
    for operation in operations.dropFirst() {
      operation.inboxNext = .passUnretained(before)
      before = operation
    }
    pushAnnounced(first: .passUnretained(first), last: .passUnretained(last))
    wakeWorker()
    return nil
  }

  /// As `add([operation])`, without the array.
  func add(_ operation: Operation) -> Bool {
    ForkedProcess.check("to add an operation to a queue")
    guard claim(operation) else { return false }
    let reference = prepare(operation)
    pushAnnounced(first: reference, last: reference)
    wakeWorker()
    return true
  }

  /// Adds a barrier behind everything that was added so far. It is the queue's own.
  func addBarrier(_ barrier: BlockOperation) {
    guard claim(barrier) else { preconditionFailure("A barrier was added twice") }
    barrier.update { $0.insert(.barrier) }
    // Released when the queue lets go of it.
    _ = Unmanaged.passRetained(barrier)
    push(first: .passUnretained(barrier), last: .passUnretained(barrier))
    wakeWorker()
  }

  private func claim(_ operation: Operation) -> Bool {
    // The queue first: a thread that finds the operation enqueued need not wait for the queue's address.
    let claim = operation.queue.compareExchange(
      expected: nil, desired: .passUnretained(self), ordering: .acquiringAndReleasing)
    guard claim.exchanged else { return false }
    if operation.update({ $0.enqueue() }) { return true }
    operation.queue.store(nil, ordering: .releasing)
    return false
  }

  private func takeBack(_ operation: Operation) {
    // A thread that pins it uses the queue, which may go away after this.
    operation.pinWhenUnpinned()
    // In this order: while it is enqueued, it has a queue.
    operation.waitUntil { $0.takeBackEnqueue() }
    operation.queue.store(nil, ordering: .releasing)
  }

  /// What can be done without a lock, on the adding thread, before anybody else sees it.
  ///
  /// - Returns: The reference that the queue lets go of when it is done.
  @inline(__always)
  private func prepare(_ operation: Operation) -> Unmanaged<Operation> {
    if MonitorLevel.isOn { describe(operation) }
    if !operation.isExactlyBlockOperation { operation.readReadinessAgain() }
    return .passRetained(operation)
  }

  /// Puts an operation that is in this queue into the inbox once more. Its caller has claimed that.
  func pushAgain(_ operation: Operation) {
    keepingAlive {
      push(first: .passUnretained(operation), last: .passUnretained(operation))
      wakeWorker()
    }
  }

  /// As ``pushAgain(_:)``, on a worker of another queue whose operation has made this one ready.
  ///
  /// If this queue lacks a worker, that worker may serve it: a chain of operations that alternates between
  /// two queues then stays on one thread.
  func pushAgain(_ operation: Operation, from scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    guard scope.pointee.nextQueue == nil, let other = scope.pointee.servedQueue,
      other._withUnsafeGuaranteedRef({ $0.pool === pool && $0.lane == lane })
    else { return pushAgain(operation) }
    keepingAlive {
      push(first: .passUnretained(operation), last: .passUnretained(operation))
      guard gate.claimWorker() else { return wakeWorker() }
      _ = owner.retain()
      scope.pointee.nextQueue = .passUnretained(self)
    }
  }

  @inline(__always)
  private func push(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    inbox.push(first: first, last: last)
    if !isOwnerHeld.load(ordering: .sequentiallyConsistent) { holdOwner() }
  }

  /// Pushes what is new, and tells those who observe what the queue holds.
  @inline(__always)
  private func pushAnnounced(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    // Without a closure where nobody does: what it captured would be retained.
    guard isObserved.load(ordering: .sequentiallyConsistent) else {
      push(first: first, last: last)
      return announceContentsAfterwards()
    }
    pushObserved(first: first, last: last)
  }

  @inline(never)
  private func pushObserved(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    announcingContents { push(first: first, last: last) }
  }

  // MARK: Lifetime

  @inline(never)
  private func holdOwner() {
    // First the reference and then the flag: a worker that has run what was pushed before this thread
    // gets any further lets go of what the flag stands for.
    _ = owner.retain()
    if isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent) {
      // Somebody else has taken one; the caller's own keeps the object alive.
      owner.release()
      return
    }
    // Whoever has read the inbox before this found nothing to let go of, and may have been the last.
    if inbox.isEmpty { withScheduler { _, _ in } }
  }

  /// At the end of a critical section: where there is nothing left to do, the public object may go.
  func letGoOfOwner(_ scheduler: borrowing QueueScheduler, _ effects: inout QueueEffects) {
    guard scheduler.retainsNothing, isOwnerHeld.load(ordering: .relaxed) else { return }
    isOwnerHeld.store(false, ordering: .sequentiallyConsistent)
    // Somebody has pushed and may have relied on it, or else has taken a reference of its own.
    let isPushed = !inbox.isEmpty
    effects.releasesOwner =
      !isPushed || isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent)
  }

  // MARK: Critical sections

  /// Runs `body` on the scheduler under the lock, with the inbox read before and after, and does
  /// afterwards what it left to do.
  @discardableResult
  func withScheduler<Result>(
    _ body: (inout QueueScheduler, inout QueueEffects) -> Result
  ) -> Result {
    var effects = QueueEffects()
    let result = scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      let result = body(&scheduler, &effects)
      publishWidth(&scheduler, &effects)
      scheduler.endSection(&effects)
      letGoOfOwner(scheduler, &effects)
      return result
    }
    perform(&effects)
    return result
  }

  func pushAgain(_ chain: inout OperationChain) {
    while let operation = chain.popFirst() { operation._withUnsafeGuaranteedRef { pushAgain($0) } }
  }

  /// The operation has finished outside a worker's care.
  func retire(_ operation: Operation) {
    keepingAlive {
      announceRetirement(of: operation)
    }
  }

  private func announceRetirement(of operation: Operation) {
    if isObserved.load(ordering: .sequentiallyConsistent), !operation.isBarrier {
      countFinish(of: operation)
    }
    let retire = {
      self.withScheduler { scheduler, effects in
        let isRetired = scheduler.retire(operation, &effects)
        precondition(isRetired, "An operation was retired before its finish was told")
        // Comes after the announcement. The caller has another reference.
        effects.takeAftermath()?.release()
      }
    }
    // Observers do not see a barrier come or go.
    if operation.isBarrier { retire() } else { announcingContents(retire) }
    operation.wasRetired()
  }

  @inline(__always)
  func readInbox(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) {
    if let first = inbox.takeAll() { scheduler.takeIn(first, &effects) }
  }

  /// Tells the gate of a new width. Where it has grown, somebody may have pushed and looked at the
  /// old one in between: the inbox is read again.
  ///
  /// - Returns: Whether the inbox was read again.
  @inline(__always) @discardableResult
  func publishWidth(
    _ scheduler: inout QueueScheduler, _ effects: inout QueueEffects
  ) -> Bool {
    guard let (width, isRising) = scheduler.publishWidth() else { return false }
    gate.setWidth(width)
    if isRising { readInbox(&scheduler, &effects) }
    return isRising
  }

  /// What a critical section left to do. The caller holds a reference to the queue.
  @inline(never)
  func perform(_ effects: inout QueueEffects) { performInline(&effects) }

  /// As ``perform(_:)``, for where each instruction counts.
  @inline(__always)
  func performInline(_ effects: inout QueueEffects) {
    notify(&effects)
    effects.releaseOperations()
    if effects.releasesOwner { owner.release() }
  }

  /// Performs the effects that other threads wait for. The release of objects is left.
  @inline(__always)
  func notify(_ effects: inout QueueEffects) {
    effects.aftermath?._withUnsafeGuaranteedRef { $0.wasRetired() }
    if effects.hasWork { wakeWorker() }
    if let wakeups = effects.takeWakeups() {
      for callback in wakeups.callbacks { callback() }
      for waiter in wakeups.waiters { waiter.wake() }
    }
  }

  // MARK: Workers

  /// Brings in a worker if one is missing, or submits the blocks that are.
  @inline(__always)
  func wakeWorker() {
    if gate.claimWorker() {
      pool.serve(self)
    } else if isOnDispatch.load(ordering: .sequentiallyConsistent) {
      submitBlocks()
    }
  }

  /// Holds the public object while `body` runs, unless this thread works for this queue and so
  /// holds it anyway.
  @inline(__always)
  private func keepingAlive(_ body: () -> Void) {
    if CurrentWork.servedQueue === self { return body() }
    let owner = owner.retain()
    body()
    owner.release()
  }
}
