// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CSystem
import Synchronization

/// The working part of an ``OperationQueue``: the inbox, the lock around the scheduler, the gate of
/// the workers, and the order in which the three are used.
///
/// Lifetime: the public object holds this one, and is itself retained on behalf of the inbox while
/// that is not empty and of the scheduler while that has operations. So a queue that its user has
/// let go of finishes its work and goes away after it. Whoever works on a queue without such a
/// reference of its own takes one for the time (``keepingAlive(_:)``).
// Unchecked because of `ownerReference`, which is set once before anybody else sees the queue.
final class QueueCore: @unchecked Sendable {
  let id = QueueID.next()
  private var ownerReference: Unmanaged<OperationQueue>?
  private let inbox = OperationInbox()
  let gate = WorkerGate()
  /// The raw value, outside the lock: every block that is added looks at it.
  private let qualityOfServiceNumber = Atomic<Int>(QualityOfService.default.rawValue)
  private let scheduler = Locked(QueueScheduler())
  /// Whether operations run on a dispatch queue. A copy of what the scheduler says, written while
  /// its lock is held.
  let isOnDispatch = Atomic<Bool>(false)
  /// Whether somebody observes or has observed the queue's properties.
  let isObserved = Atomic<Bool>(false)
  /// Whether this is the core of ``OperationQueue/main``, whose properties are fixed.
  let isMain: Bool

  init(isMain: Bool = false) {
    self.isMain = isMain
    gate.setWidth(QueueScheduler.widthLimit)
  }

  /// Says whose core this is. Called once, by the public object's initialiser.
  func belongs(to owner: OperationQueue) { ownerReference = .passUnretained(owner) }

  /// The public object. It holds this one, so it is there whenever this one is used.
  var owner: Unmanaged<OperationQueue> {
    guard let ownerReference else { preconditionFailure("The queue was used before it was made") }
    return ownerReference
  }

  var hasMail: Bool { !inbox.isEmpty }

  /// Whether a worker would find something to do, what is in the inbox apart.
  ///
  /// A worker that has given up must ask: while it searched, a slot may have become free or the
  /// queue been resumed, and whoever did that brought in nobody because somebody was searching.
  var hasWork: Bool { scheduler.withLock { $0.hasWork } }

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

  // MARK: Adding

  /// Takes the operations, all or none.
  ///
  /// - Returns: The first one that may not be added, if there is one.
  func add(_ operations: [Operation]) -> Operation? {
    for (index, operation) in operations.enumerated() {
      guard claim(operation) else {
        // Nobody has seen the others: they were not pushed.
        for claimed in operations[..<index] { takeBack(claimed) }
        return operation
      }
    }
    guard let first = operations.first, let last = operations.last else { return nil }
    for operation in operations { prepare(operation) }
    var before = first
    for operation in operations.dropFirst() {
      operation.inboxNext = .passUnretained(before)
      before = operation
    }
    announcingContents { push(first: .passUnretained(first), last: .passUnretained(last)) }
    wakeWorker()
    return nil
  }

  /// As `add([operation])`, without the array.
  func add(_ operation: Operation) -> Bool {
    guard claim(operation) else { return false }
    prepare(operation)
    announcingContents {
      push(first: .passUnretained(operation), last: .passUnretained(operation))
    }
    wakeWorker()
    return true
  }

  /// Adds a barrier behind everything that was added so far. It is the queue's own.
  func addBarrier(_ barrier: BlockOperation) {
    guard claim(barrier) else { preconditionFailure("A barrier was added twice") }
    barrier.place.isBarrier = true
    // Released when the queue lets go of it.
    _ = Unmanaged.passRetained(barrier)
    push(first: .passUnretained(barrier), last: .passUnretained(barrier))
    wakeWorker()
  }

  private func claim(_ operation: Operation) -> Bool {
    guard operation.update({ $0.enqueue() }) else { return false }
    operation.queue.store(.passUnretained(self), ordering: .releasing)
    return true
  }

  private func takeBack(_ operation: Operation) {
    // Whoever pins it is using the queue.
    while !operation.update({ $0.pin() }) { csystem_spin_hint() }
    // In this order: once the claim is taken back another queue may take the operation, and what it
    // stores must not be wiped out.
    operation.queue.store(nil, ordering: .releasing)
    operation.update { $0.takeBackEnqueue() }
  }

  /// What can be done without a lock, on the adding thread, before anybody else sees it.
  private func prepare(_ operation: Operation) {
    if MonitorLevel.isOn {
      operation.record = OperationRecord(
        OperationSnapshot(describing: operation, queue: id), needsDescription: false)
    }
    if !operation.isExactlyBlockOperation { operation.readReadinessAgain() }
    // Released when the queue lets go of it.
    _ = Unmanaged.passRetained(operation)
  }

  /// Puts an operation that is in this queue into the inbox once more. Its caller has claimed that.
  func pushAgain(_ operation: Operation) {
    keepingAlive {
      push(first: .passUnretained(operation), last: .passUnretained(operation))
      wakeWorker()
    }
  }

  @inline(__always)
  private func push(first: Unmanaged<Operation>, last: Unmanaged<Operation>) {
    let owner = owner
    inbox.push(
      first: first, last: last, willBecomeNonEmpty: { _ = owner.retain() },
      hasNot: { owner.release() })
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
      return result
    }
    perform(&effects)
    return result
  }

  /// A worker has done with an operation, or comes for the first time, and takes the next one:
  /// one critical section for both.
  ///
  /// - Parameters:
  ///   - finished: What the worker has run, if that is still to leave the queue.
  ///   - isSearching: Whether the worker counts as searching; not any more where it found one.
  /// - Returns: The operation to start, dispatched.
  @inline(__always)
  func takeNext(retiring finished: Operation?, isSearching: Bool) -> Operation? {
    if let finished, isObserved.load(ordering: .sequentiallyConsistent) {
      retire(finished)
      return takeNextUnannounced(retiring: nil, isSearching: isSearching)
    }
    let next = takeNextUnannounced(retiring: finished, isSearching: isSearching)
    if let finished, !finished.place.isBarrier { announceContentsAfterwards() }
    return next
  }

  @inline(__always)
  private func takeNextUnannounced(retiring finished: Operation?, isSearching: Bool) -> Operation? {
    var effects = QueueEffects()
    let next = scheduler.withLock { scheduler in
      readInbox(&scheduler, &effects)
      if let finished { scheduler.retire(finished, &effects) }
      var next = scheduler.takeNextForWorker()
      if publishWidth(&scheduler, &effects), next == nil { next = scheduler.takeNextForWorker() }
      scheduler.endSection(&effects)
      // Retained while the lock is held: a subclass may finish by itself before it is started, and
      // then the queue lets go of it.
      return next?.takeUnretainedValue()
    }
    if isSearching, next != nil {
      // Before others are woken: nobody is while one searches.
      gate.stopSearching()
      // Who pushed since the inbox was read has woken nobody for that reason.
      if hasMail { effects.hasWork = true }
    }
    finished?.wasRetired()
    perform(&effects)
    return next
  }

  /// A worker that was not searching leaves although there may be more to do.
  func leave(retiring finished: Operation?) {
    gate.leave()
    guard let finished else { return withScheduler { _, _ in } }
    announceRetirement(of: finished)
  }

  /// The operation has finished outside a worker's care.
  func retire(_ operation: Operation) {
    keepingAlive {
      announceRetirement(of: operation)
    }
  }

  private func announceRetirement(of operation: Operation) {
    let retire = { self.withScheduler { $0.retire(operation, &$1) } }
    // Set before anybody else has seen it. Nobody sees a barrier come or go.
    if operation.place.isBarrier { retire() } else { announcingContents(retire) }
    operation.wasRetired()
  }

  private func readInbox(_ scheduler: inout QueueScheduler, _ effects: inout QueueEffects) {
    if let first = inbox.takeAll() { scheduler.admit(first, &effects) }
  }

  /// Tells the gate of a new width. Where it has grown, somebody may have pushed and looked at the
  /// old one in between: the inbox is read again.
  ///
  /// - Returns: Whether the inbox was read again.
  @inline(__always) @discardableResult
  private func publishWidth(
    _ scheduler: inout QueueScheduler, _ effects: inout QueueEffects
  ) -> Bool {
    guard let (width, isRising) = scheduler.publishWidth() else { return false }
    gate.setWidth(width)
    if isRising { readInbox(&scheduler, &effects) }
    return isRising
  }

  /// What a critical section left to do. The caller holds a reference to the queue.
  private func perform(_ effects: inout QueueEffects) {
    if effects.hasWork { wakeWorker() }
    for wake in effects.wakes { wake() }
    for latch in effects.latches { latch.open() }
    effects.releaseOperations()
    let owner = owner
    if effects.ownerReleases < 0 { _ = owner.retain() }
    while effects.ownerReleases > 0 {
      effects.ownerReleases -= 1
      owner.release()
    }
  }

  // MARK: Workers

  /// Brings in a worker if one is missing, or submits the blocks that are.
  @inline(__always)
  func wakeWorker() {
    if gate.admit() {
      WorkerPool.shared.serve(self)
    } else if isOnDispatch.load(ordering: .sequentiallyConsistent) {
      submitBlocks()
    }
  }

  /// Whether the system decides how many operations run at once.
  var hasDefaultWidth: Bool {
    scheduler.withLock { $0.maxConcurrentOperationCount < 0 }
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
