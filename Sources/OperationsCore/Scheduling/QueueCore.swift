// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The working part of an ``OperationQueue``: the inbox, the lock around the scheduler, the gate of
/// the workers, and the order in which the three are used.
///
/// Lifetime: the public object retains this one, and is itself retained while the inbox or the
/// scheduler has operations (``isOwnerHeld``): a queue without other references is released after
/// its work. A thread that works on a queue without its own reference takes one
/// (``keepingAlive(_:)``).
// Unchecked because of `ownerReference`, which is set once before another thread can use the queue,
// and of `waitingRequest`, which the pool's lock guards.
final class QueueCore: @unchecked Sendable {
  let id = QueueID.next()
  private var ownerReference: Unmanaged<OperationQueue>?
  private let inbox = OperationInbox()
  let gate = WorkerGate()
  /// Whether the public object is retained for the work of the queue.
  ///
  /// Set by a pushing thread, after the push. Cleared under the scheduler's lock if the queue has
  /// no work left; the clearing thread reads the inbox after that. Both are sequentially
  /// consistent, so that of a push and a clearing that meet at least one sees the other. It stays
  /// set between two operations while a worker is present, so that the workers and adding threads
  /// do not contend for the reference count.
  private let isOwnerHeld = Atomic<Bool>(false)
  /// The raw quality of service. It is not under the lock, because each added block reads it.
  private let qualityOfServiceNumber = Atomic<Int>(QualityOfService.default.rawValue)
  let scheduler: Locked<QueueScheduler>
  /// Whether operations run on a dispatch queue: the scheduler's value, written under its lock.
  let isOnDispatch = Atomic<Bool>(false)
  /// Whether the queue's properties have or had observers.
  let isObserved = Atomic<Bool>(false)
  /// The number of added operations for which a record may still be created before the next
  /// reading.
  let newRecords = Atomic<Int>(0)
  /// Whether this is the core of ``OperationQueue/main``, whose properties are fixed.
  let isMain: Bool
  /// The lane of its requests if that does not depend on the width.
  private let fixedLane: WorkerPoolState.Lane?
  let pool: WorkerPool
  /// The number of the waiting request for a worker; 0 if no request waits. Guarded by the pool's
  /// lock.
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

  /// Sets the public object. Called once, by the initializer of the public object.
  func belongs(to owner: OperationQueue) { ownerReference = .passUnretained(owner) }

  /// The public object. It retains this object, so it exists whenever this object is used.
  var owner: Unmanaged<OperationQueue> {
    guard let ownerReference else {
      preconditionFailure("The queue was used before it was created")
    }
    return ownerReference
  }

  /// The queue's width, as a copy that can be read without the lock.
  var currentWidth: Int { declaredWidth.load(ordering: .relaxed) }

  /// The lane of the queue's requests for workers.
  var lane: WorkerPoolState.Lane { fixedLane ?? (currentWidth < 0 ? .shared : .own) }

  var hasMail: Bool { !inbox.isEmpty }

  /// A worker has given up. Returns whether it should come back: while it searched, a slot may have
  /// become free, the queue may have been resumed, or an operation may have been pushed, and the
  /// thread that did so brought in no worker because one was searching.
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

  /// The quality of service of the underlying queue if it has one; otherwise, the one that was set.
  var qualityOfService: QualityOfService {
    get {
      if isOnDispatch.load(ordering: .acquiring), let level = underlyingQualityOfService {
        return level
      }
      return QualityOfService(rawValue: qualityOfServiceNumber.load(ordering: .relaxed)) ?? .default
    }
    set { qualityOfServiceNumber.store(newValue.rawValue, ordering: .relaxed) }
  }

  /// Whether the quality of service is the default one, as far as can be seen without the lock.
  @inline(__always)
  var hasDefaultQualityOfService: Bool {
    qualityOfServiceNumber.load(ordering: .relaxed) == QualityOfService.default.rawValue
      && !isOnDispatch.load(ordering: .relaxed)
  }

  // MARK: Adding

  /// Adds an operation that no other thread has seen yet.
  @inline(__always)
  func addNew(_ operation: consuming BlockOperation) {
    ForkedProcess.check("to add an operation to a queue")
    operation.status.store(.enqueuedFromTheStart, ordering: .relaxed)
    operation.queue.store(.passUnretained(self), ordering: .relaxed)
    if MonitorLevel.isOn { describe(operation) }
    // Released when the queue releases the operation.
    let reference = Unmanaged<Operation>.passRetained(consume operation)
    pushAnnounced(first: reference, last: reference)
    wakeWorkerAfterAdding()
  }

  /// Adds all of the operations, or none of them if one cannot be added.
  ///
  /// - Returns: The first operation that cannot be added; `nil` if all were added.
  func add(_ operations: [Operation]) -> Operation? {
    ForkedProcess.check("to add operations to a queue")
    for (index, operation) in operations.enumerated() {
      guard claim(operation) else {
        // No other thread has seen the claimed operations, because they were not pushed.
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
    wakeWorkerAfterAdding()
    return nil
  }

  /// Adds one operation, without an array.
  func add(_ operation: Operation) -> Bool {
    ForkedProcess.check("to add an operation to a queue")
    guard claim(operation) else { return false }
    let reference = prepare(operation)
    pushAnnounced(first: reference, last: reference)
    wakeWorkerAfterAdding()
    return true
  }

  /// Adds a barrier behind all earlier operations. The queue owns the barrier.
  func addBarrier(_ barrier: BlockOperation) {
    guard claim(barrier) else { preconditionFailure("A barrier was added twice") }
    barrier.update { $0.insert(.barrier) }
    // Released when the queue releases the operation.
    _ = Unmanaged.passRetained(barrier)
    push(first: .passUnretained(barrier), last: .passUnretained(barrier))
    wakeWorkerAfterAdding()
  }

  private func claim(_ operation: Operation) -> Bool {
    // The queue is stored first, so that a thread that finds the operation enqueued need not wait
    // for the queue's address.
    let claim = operation.queue.compareExchange(
      expected: nil, desired: .passUnretained(self), ordering: .acquiringAndReleasing)
    guard claim.exchanged else { return false }
    if operation.update({ $0.enqueue() }) { return true }
    operation.queue.store(nil, ordering: .releasing)
    return false
  }

  private func takeBack(_ operation: Operation) {
    // A thread that pins the operation uses the queue, which may be released after this call.
    operation.pinWhenUnpinned()
    // The flag is cleared before the queue, so that an enqueued operation always has a queue.
    operation.waitUntil { $0.takeBackEnqueue() }
    operation.queue.store(nil, ordering: .releasing)
  }

  /// Prepares the operation on the adding thread, without a lock, before any other thread sees it.
  ///
  /// - Returns: The reference that the queue releases at the end.
  @inline(__always)
  private func prepare(_ operation: Operation) -> Unmanaged<Operation> {
    if MonitorLevel.isOn { describe(operation) }
    if !operation.isExactlyBlockOperation { operation.readReadinessAgain() }
    return .passRetained(operation)
  }

  /// Pushes an operation of this queue into the inbox again. The caller has claimed that.
  func pushAgain(_ operation: Operation) {
    ForkedProcess.check("to change an operation that is in a queue")
    keepingAlive {
      push(first: .passUnretained(operation), last: .passUnretained(operation))
      wakeWorker()
    }
  }

  /// Pushes an operation again, on a worker of another queue whose operation has made it ready.
  ///
  /// If this queue lacks a worker, that worker may serve it, so that a chain of operations that
  /// alternates between two queues stays on one thread.
  func pushAgain(_ operation: Operation, from scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    // The following calls may run user code, which must not wait for the claimed queue.
    CurrentWork.passNextQueueOn(scope)
    guard let other = scope.pointee.servedQueue,
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

  /// Pushes new operations, and notifies observers of the queue's contents.
  @inline(__always)
  private func pushAnnounced(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    // If there is no observer, no closure is created, because a closure would retain its captures.
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
    // The reference comes first and then the flag: a worker that has run the pushed operations
    // before this thread continues releases the reference that the flag stands for.
    _ = owner.retain()
    if isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent) {
      // Another thread has already taken a reference; the caller's own one keeps the object alive.
      owner.release()
      return
    }
    // A thread that has read the inbox before this found nothing to release, and may have been the
    // last.
    if inbox.isEmpty { withScheduler { _, _ in } }
  }

  /// At the end of a critical section: if there is no work left, the public object may be released.
  func letGoOfOwner(_ scheduler: borrowing QueueScheduler, _ effects: inout QueueEffects) {
    guard scheduler.retainsNothing, isOwnerHeld.load(ordering: .relaxed) else { return }
    isOwnerHeld.store(false, ordering: .sequentiallyConsistent)
    // Another thread has pushed and may have relied on the flag, or has taken its own reference.
    let isPushed = !inbox.isEmpty
    effects.releasesOwner =
      !isPushed || isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent)
  }

  /// Releases one of several references to the public object, which runs no code of the user.
  ///
  /// - Returns: `false` if the reference may be the last one. It is not released then. If there is work
  ///   left, the queue has a reference of its own, which it gives up only under its lock.
  func releaseOwnerIfHeld() -> Bool {
    scheduler.withLock { _ in
      guard isOwnerHeld.load(ordering: .sequentiallyConsistent) else { return false }
      owner.release()
      return true
    }
  }

  // MARK: Critical sections

  /// Runs `body` on the scheduler under the lock, reads the inbox before and after it, and then
  /// performs the effects.
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

  /// Retires an operation that did not finish on a worker.
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
        precondition(isRetired, "An operation was retired before its finish was reported")
        // The reference is released after the announcement. The caller has another reference.
        effects.takeAftermath()?.release()
      }
    }
    // Observers do not see barriers.
    if operation.isBarrier { retire() } else { announcingContents(retire) }
    operation.wasRetired()
  }

  @inline(__always)
  func readInbox(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) {
    if let first = inbox.takeAll() { scheduler.takeIn(first, &effects) }
  }

  /// Publishes a new width to the gate. If it has grown, another thread may have pushed and read
  /// the old width in between: the inbox is read again.
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

  /// Performs the effects of a critical section. The caller holds a reference to the queue.
  @inline(never)
  func perform(_ effects: inout QueueEffects) { performInline(&effects) }

  /// Performs the effects like ``perform(_:)``, for callers in which each instruction counts.
  @inline(__always)
  func performInline(_ effects: inout QueueEffects) {
    notify(&effects)
    effects.releaseOperations()
    if effects.releasesOwner { owner.release() }
  }

  /// Performs the effects that other threads wait for. Objects are not released here.
  @inline(__always)
  func notify(_ effects: inout QueueEffects) {
    effects.aftermath?._withUnsafeGuaranteedRef { $0.wasRetired() }
    if effects.hasWork { wakeWorker() }
    if let wakeups = effects.takeWakeups() {
      for callback in wakeups.callbacks { callback() }
      for waiter in wakeups.waiters { waiter.wake() }
    }
  }

  /// Retains the public object while `body` runs, unless this thread works for this queue and so
  /// retains it anyway.
  @inline(__always)
  private func keepingAlive(_ body: () -> Void) {
    if CurrentWork.servedQueue === self { return body() }
    let owner = owner.retain()
    body()
    owner.release()
  }
}
