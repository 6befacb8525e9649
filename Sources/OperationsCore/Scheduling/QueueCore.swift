// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The implementation of an ``OperationQueue``: the inbox, the lock around the scheduler, and the gate of the
/// workers. This class uses the three in the necessary order.
///
/// The public object of the queue retains this object. The public object itself is retained while the inbox or the
/// scheduler has operations (``isOwnerHeld``). So a queue without other references is released after its work. A thread
/// that works on a queue and has no reference to it retains the public object during the work.
// Unchecked `Sendable` conformance because of `ownerReference`, which is set once before another thread can
// use the queue, and because of `waitingRequest`, which the pool's lock guards.
final class QueueCore: @unchecked Sendable {
  let id = QueueID.next()
  private var ownerReference: Unmanaged<OperationQueue>?
  private let inbox = OperationInbox()
  let gate = WorkerGate()
  /// Whether the queue retains its public object, because the queue has work.
  ///
  /// A thread that pushes an operation sets this value after the push. A thread that holds the scheduler's lock clears
  /// the value if the queue has no work left, and reads the inbox after that. All of these accesses are sequentially
  /// consistent. So if a push and a clearing happen at the same time, at least one of the two threads sees the other's
  /// change. The value stays `true` between two operations while a worker is present, so that the workers and adding
  /// threads do not contend for the reference count.
  private let isOwnerHeld = Atomic<Bool>(false)
  /// The raw value of the quality of service. No lock guards it, because each added block reads it.
  let qualityOfServiceNumber = Atomic<Int>(QualityOfService.default.rawValue)
  let scheduler: Locked<QueueScheduler>
  /// Held while blocks are claimed and submitted to a dispatch queue. It is acquired before the scheduler's lock.
  let submission = FutexLock()
  /// Whether operations run on a dispatch queue. Written only while the scheduler's lock is held.
  let isOnDispatch = Atomic<Bool>(false)
  /// The raw value of the ``Marks``.
  let marks = Atomic<UInt8>(0)
  /// The number of added operations that may still get a record before the collector's next reading.
  let newRecords = Atomic<Int>(0)
  /// Whether this is the core of ``OperationQueue/main``, whose properties are fixed.
  let isMain: Bool
  /// The kind (lane) of the queue's requests for workers; `nil` if it depends on the queue's width.
  let fixedLane: WorkerPoolState.Lane?
  let pool: WorkerPool
  /// The serial number of the queue's waiting request for a worker; 0 if no request waits. Guarded by the
  /// pool's lock.
  @exclusivity(unchecked) var waitingRequest: UInt64 = 0
  /// The number of additions while no worker could start an operation.
  let additionsWithoutWorkers = Atomic<UInt32>(0)
  /// A copy of the `maxConcurrentOperationCount` of the scheduler, which can be read without the lock.
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

  /// Sets the public object, which is the `OperationQueue`. Called once, by the initializer of that object.
  func belongs(to owner: OperationQueue) { ownerReference = .passUnretained(owner) }

  /// The public object of the queue, which is the `OperationQueue`. It retains this `QueueCore`, so it exists
  /// whenever this `QueueCore` is used.
  var owner: Unmanaged<OperationQueue> {
    guard let ownerReference else {
      preconditionFailure("The queue was used before it was created")
    }
    return ownerReference
  }

  /// The queue's width, as a copy that can be read without the lock.
  var currentWidth: Int { declaredWidth.load(ordering: .relaxed) }

  /// The kind (lane) of the requests for workers that the queue makes.
  var lane: WorkerPoolState.Lane {
    if let fixedLane { return fixedLane }
    if isInBackground { return currentWidth < 0 ? .backgroundShared : .backgroundOwn }
    return currentWidth < 0 ? .shared : .own
  }

  /// Whether threads of low scheduling priority run the queue's operations.
  @inline(__always)
  var isInBackground: Bool {
    qualityOfServiceNumber.load(ordering: .relaxed) == QualityOfService.background.rawValue
  }

  var hasMail: Bool { !inbox.isEmpty }

  // MARK: Adding

  /// Adds an operation, which no other thread has seen yet, to the queue.
  @inline(__always)
  func addNew(_ operation: consuming BlockOperation) {
    ForkedProcess.check("to add an operation to a queue")
    operation.status.store(.enqueuedFromTheStart, ordering: .relaxed)
    operation.queue.store(.passUnretained(self), ordering: .relaxed)
    if MonitorLevel.isOn { describe(operation) }
    // The queue owns this reference to the operation, and releases it when the operation has left the queue.
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
        // The operations before it were only marked as added, so no worker has seen them.
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

  /// Adds one operation to the queue without creating an array for it.
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
    if isClosed { return refuseBarrier() }
    guard claim(barrier) else { preconditionFailure("A barrier was added twice") }
    barrier.update { $0.insert(.barrier) }
    // The queue owns this reference to the barrier, and releases it when the barrier has left the queue.
    _ = Unmanaged.passRetained(barrier)
    push(first: .passUnretained(barrier), last: .passUnretained(barrier))
    wakeWorkerAfterAdding()
  }

  private func claim(_ operation: Operation) -> Bool {
    // The reference to the queue is stored before the flag `enqueued` is set. So a thread that finds the flag
    // set can read the reference at once.
    let claim = operation.queue.compareExchange(
      expected: nil, desired: .passUnretained(self), ordering: .acquiringAndReleasing)
    guard claim.exchanged else { return false }
    if operation.update({ $0.enqueue() }) { return true }
    operation.queue.store(nil, ordering: .releasing)
    return false
  }

  /// Reverts ``claim(_:)`` for an operation that was not pushed into the inbox.
  func takeBack(_ operation: Operation) {
    // Another thread may have pinned the operation and use this queue. The queue may be released
    // after this call, so this thread waits until the operation is no longer pinned.
    operation.pinWhenUnpinned()
    // The flag `enqueued` is cleared before the reference to the queue, so that an operation with this flag
    // always has a queue.
    operation.waitUntil { $0.takeBackEnqueue() }
    operation.queue.store(nil, ordering: .releasing)
  }

  /// Prepares the operation on the adding thread, without a lock, before any other thread sees the operation.
  ///
  /// - Returns: A reference to the operation, which the queue releases when the operation has left the queue.
  @inline(__always)
  private func prepare(_ operation: Operation) -> Unmanaged<Operation> {
    if OperationContextHook.isInstalled { operation.captureContext() }
    if MonitorLevel.isOn { describe(operation) }
    if !operation.isExactlyBlockOperation { operation.readReadinessAgain() }
    return .passRetained(operation)
  }

  /// Pushes an operation of this queue into the inbox again. The caller has claimed this push.
  func pushAgain(_ operation: Operation) {
    ForkedProcess.check("to change an operation that is in a queue")
    // If this thread serves this queue, it already retains the public object of the queue.
    let mustRetain = CurrentWork.servedQueue !== self
    if mustRetain { _ = owner.retain() }
    push(first: .passUnretained(operation), last: .passUnretained(operation))
    wakeWorker()
    if mustRetain { releaseOwner() }
  }

  /// Pushes an operation of this queue into the inbox again. The calling thread is a worker of another queue,
  /// and has just executed an operation that made this one ready.
  ///
  /// If this queue lacks a worker, the calling worker may serve it, so that a chain of operations that
  /// alternates between two queues stays on one thread.
  func pushAgain(_ operation: Operation, from scope: UnsafeMutablePointer<CurrentWork.Scope>) {
    // The following calls may run user code, which may wait for the queue that this worker was
    // about to serve next. So the pool first gives that queue another worker.
    CurrentWork.passNextQueueOn(scope)
    guard let other = scope.pointee.servedQueue,
      other._withUnsafeGuaranteedRef({ $0.pool === pool && $0.lane == lane })
    else { return pushAgain(operation) }
    _ = owner.retain()
    push(first: .passUnretained(operation), last: .passUnretained(operation))
    if gate.claimWorker() {
      // The `nextQueue` of this thread's scope takes over the reference to the queue's public object.
      scope.pointee.nextQueue = .passUnretained(self)
    } else {
      wakeWorker()
      releaseOwner()
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
    // A closure would retain its captures. So the code with a closure runs only if the queue has observers.
    guard marks.load(ordering: .sequentiallyConsistent) != 0 else {
      push(first: first, last: last)
      return announceContentsAfterwards()
    }
    pushMarked(first: first, last: last)
  }

  /// Pushes new operations into a queue with observers, or refuses them if the queue is closed.
  @inline(never)
  private func pushMarked(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    if isClosed { return refuse(first: first, last: last) }
    announcingContents { push(first: first, last: last) }
  }

  // MARK: Lifetime

  @inline(never)
  private func holdOwner() {
    // The public object is retained before the flag `isOwnerHeld` is set. Otherwise, a worker that has
    // executed the pushed operations could see the flag and release the public object before this thread has
    // retained it.
    _ = owner.retain()
    if isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent) {
      // Another thread has already retained the public object for the queue's work. The caller's own
      // reference keeps the object alive.
      owner.release()
      return
    }
    // A thread that emptied the inbox before the flag `isOwnerHeld` was set may have been the last one that
    // works on the queue. It has not released the public object, so this thread checks whether to release it.
    if inbox.isEmpty { withScheduler { _, _ in } }
  }

  /// Decides at the end of a critical section whether the queue releases its public object. The queue
  /// releases it if no work is left.
  func letGoOfOwner(_ scheduler: borrowing QueueScheduler, _ effects: inout QueueEffects) {
    guard scheduler.retainsNothing, isOwnerHeld.load(ordering: .relaxed) else { return }
    isOwnerHeld.store(false, ordering: .sequentiallyConsistent)
    // If the inbox is not empty, another thread has pushed an operation. That thread has either seen the flag
    // `isOwnerHeld` and not retained the public object, or has retained the public object and set the flag
    // again.
    let isPushed = !inbox.isEmpty
    effects.releasesOwner =
      !isPushed || isOwnerHeld.exchange(true, ordering: .sequentiallyConsistent)
  }

  /// Releases the caller's reference to the public object if it is not the last one, so that no code of the
  /// user runs.
  ///
  /// While the queue has work, it has its own reference, which it releases only under its lock.
  ///
  /// - Returns: `false` if the caller's reference may be the last one. In that case, it was not released.
  func releaseOwnerIfHeld() -> Bool {
    scheduler.withLock { _ in
      guard isOwnerHeld.load(ordering: .sequentiallyConsistent) else { return false }
      owner.release()
      return true
    }
  }

  /// Releases the caller's reference to the public object. If the reference may be the last one, another
  /// thread releases it, because this thread may not run a `deinit` of the user: it may hold a slot, or have
  /// other work that must not wait.
  func releaseOwner() {
    if releaseOwnerIfHeld() { return }
    let owner = owner
    OperationQueue.completions.addOperation { owner.release() }
  }

  // MARK: Critical sections

  /// Runs `body` on the scheduler under the lock, reads the inbox before and after it, and then performs the
  /// effects, which are the actions that must follow the release of the lock.
  @discardableResult
  func withScheduler<Result>(
    _ body: (inout QueueScheduler, inout QueueEffects) -> Result
  ) -> Result {
    var effects = QueueEffects()
    let result = inSection(&effects, body)
    perform(&effects)
    return result
  }

  /// Runs `body` like ``withScheduler(_:)``. The caller performs the effects.
  @inline(__always)
  func inSection<Result>(
    _ effects: inout QueueEffects, _ body: (inout QueueScheduler, inout QueueEffects) -> Result
  ) -> Result {
    scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      let result = body(&scheduler, &effects)
      publishWidth(&scheduler, &effects)
      scheduler.endSection(&effects)
      letGoOfOwner(scheduler, &effects)
      return result
    }
  }

  /// Retires a finished operation (makes it leave this queue) whose finish no worker of this queue handles.
  func retire(_ operation: Operation) {
    // If this thread serves this queue, it already retains the public object of the queue.
    if CurrentWork.servedQueue === self { return announceRetirement(of: operation) }
    let owner = owner.retain()
    announceRetirement(of: operation)
    owner.release()
  }

  private func announceRetirement(of operation: Operation) {
    let retire = {
      self.withScheduler { scheduler, effects in
        let isRetired = scheduler.retire(operation, &effects)
        precondition(isRetired, "An operation was retired before its finish was reported")
        // This is not the last reference to the operation. The caller of this method has another one.
        effects.takeAftermath()?.release()
      }
    }
    // The announced properties of the queue do not include barriers.
    if operation.isBarrier {
      retire()
    } else if isObserved {
      countFinish(of: operation)
      operation.announcingRemoval { announcingContents(retire) }
    } else {
      announcingContents(retire)
    }
    operation.wasRetired()
  }

  @inline(__always)
  func readInbox(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) {
    if let first = inbox.takeAll() { scheduler.takeIn(first, &effects) }
  }

  /// Stores a new width in the gate, which decides whether the queue requests a worker. If the width has
  /// grown, this method reads the inbox again: another thread may have pushed an operation and read the old
  /// width before the new one was stored.
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

  /// Performs the actions that must follow the release of the lock. The caller retains the queue.
  @inline(never)
  func perform(_ effects: inout QueueEffects) { performInline(&effects) }

  /// Performs the same actions as ``perform(_:)``. This method is inlined, for callers that must be fast.
  @inline(__always)
  func performInline(_ effects: inout QueueEffects) {
    notify(&effects)
    effects.releaseOperations()
    if effects.releasesOwner { owner.release() }
  }

  /// Performs the actions that must follow the release of the lock and that other threads wait for. This
  /// method does not release operations or the public object.
  @inline(__always)
  func notify(_ effects: inout QueueEffects) {
    effects.aftermath?._withUnsafeGuaranteedRef { $0.wasRetired() }
    if effects.hasWork { wakeWorker() }
    if let wakeups = effects.takeWakeups() {
      for callback in wakeups.callbacks { callback() }
      wake(wakeups.waiters)
      if let time = wakeups.admissionTime { endPlaces(at: time) }
    }
  }
}
