// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The state of a queue: its operations, the operations that may start, and the counts. Guarded by
/// the queue's lock. The scheduler runs no operation, wakes no thread and releases no object.
///
/// ``QueueEffects`` contains the actions that the caller performs after it has released the lock.
struct QueueScheduler {
  /// The number of operations in each state. `waiting + ready + executing + finished + cancelled`
  /// is always `total`.
  typealias Counts = QueueSnapshot.Counts

  /// The maximum number of operations that execute at once; −1 if the system decides.
  var maxConcurrentOperationCount = -1
  /// The reasons why the queue does not start operations in the usual way.
  var restraints: Restraints = []
  var isSuspended: Bool {
    get { restraints.contains(.suspended) }
    set { if newValue { restraints.insert(.suspended) } else { restraints.remove(.suspended) } }
  }
  /// The limit of the queue's starts, and the counted starts; `nil` without a limit.
  var limiter: StartLimiter?
  var starts: StartCounter?
  /// The work that a test does by hand; `nil` unless a test steps the queue.
  var stepper: QueueStepper?
  var name = ""
  var monitor: QueueMonitor
  private(set) var counts = Counts()
  /// The number of operations that were cancelled and have finished without executing.
  private(set) var unstartedCount = 0

  private(set) var operations = OperationList<QueueLinks>()
  /// The ready operations that are not behind a barrier.
  private(set) var ready = ReadyBands()
  private(set) var barriers = BarrierLine()
  /// The number of operations that the queue retains. These are the operations in `operations`, the barriers,
  /// and the operations that have left the queue but must not be released yet.
  private var retainedCount = 0
  var waitersForEmpty: [ObjectIdentifier: any Waiter] = [:]
  /// Whether the queue is closed and accepts no operations.
  var isClosed = false
  /// The callers that wait until the queue has few operations.
  var admissions = AdmissionLine()
  /// Whether the addition of an operation needs more actions, because of ``isClosed`` or ``admissions``.
  var watchesAdditions = false
  /// Whether callers wait in ``admissions``. A separate flag, because reading the line would retain its parts.
  var hasLine = false
  /// The last width that was stored in the queue's gate, which decides whether the queue requests a worker.
  private(set) var publishedWidth: UInt32 = QueueScheduler.widthLimit
  /// The dispatch queue on which operations run; `nil` if they run on the pool's workers.
  var underlying: UnderlyingQueue?
  var lastGeneration: UInt64 = 0

  init(queue: QueueID) { monitor = QueueMonitor(queue: queue) }

  // MARK: What can be done

  /// Whether another operation may be started, if one is ready. No operation may start while a
  /// barrier executes.
  var hasFreeSlot: Bool {
    !isSuspended && counts.executing < slotLimit && barriers.front != .running
  }

  /// Whether a worker of the queue would find an operation to start.
  @inline(__always) var hasStartable: Bool {
    guard restraints.isEmpty else { return hasRestrainedStartable() }
    return hasFreeSlot && (!ready.isEmpty || barriers.front == .due)
  }

  /// Whether another worker, or another block in the underlying queue, would find an operation to
  /// start.
  // Inlining this property, and the properties that it reads, avoids a copy of the scheduler.
  @inline(__always)
  var hasWork: Bool {
    guard hasStartable else { return false }
    return underlying == nil || missingBlockCount > 0
  }

  /// Whether the queue retains no operation, not even one that has left it.
  var retainsNothing: Bool { retainedCount == 0 }

  /// Whether all added operations have left the queue.
  var isEmpty: Bool { operations.isEmpty && barriers.isEmpty }

  /// The maximum number of the pool's workers that could find an operation to start at present.
  @inline(__always) private var width: UInt32 {
    guard hasFreeSlot, underlying == nil, !restraints.contains(.stepped) else { return 0 }
    return UInt32(min(slotLimit, Int(Self.widthLimit)))
  }

  /// Updates `publishedWidth`. Returns the new width if the queue's gate must get it; otherwise `nil`.
  @inline(__always)
  mutating func publishWidth() -> (width: UInt32, isRising: Bool)? {
    let width = width
    guard width != publishedWidth else { return nil }
    defer { publishedWidth = width }
    return (width, width > publishedWidth)
  }

  // MARK: Events

  /// Handles operations from the inbox: new operations, and operations whose status has changed.
  ///
  /// - Parameters:
  ///   - first: The oldest operation. The operations are linked through `inboxNext`.
  ///   - effects: The actions after the lock is released.
  @inline(__always)
  mutating func takeIn(_ first: Unmanaged<Operation>, _ effects: inout QueueEffects) {
    var current: Unmanaged<Operation>? = first
    while let operation = current {
      operation._withUnsafeGuaranteedRef {
        current = $0.inboxNext
        $0.inboxNext = nil
        let (isDescriptionNew, status) = $0.update { ($0.leaveInbox(), $0) }
        takeIn($0, status, isDescriptionNew, &effects)
      }
    }
  }

  private mutating func takeIn(
    _ operation: Operation, _ status: OperationStatus, _ isDescriptionNew: Bool,
    _ effects: inout QueueEffects
  ) {
    if status.has(.barrier) { return takeInBarrier(operation, status, &effects) }
    switch operation.place.stage {
    case .outside:
      operation.place.segment = barriers.lastSegment
      counts.total += 1
      retainedCount += 1
      operations.append(.passUnretained(operation))
      if watchesAdditions { watchAddition(of: operation, status, &effects) }
      reposition(operation, status)
      noteCancellation(operation, status)
      // The operation finished while it was in the inbox, and all consequences of the finish were handled.
      if status.has(.retired) { remove(operation, status, &effects) }
    case .waiting, .ready: reposition(operation, status)
    case .executing: noteCancellation(operation, status)
    case .lingering: if !status.isHeldInQueue { letGo(operation, &effects) }
    case .gone: preconditionFailure("An operation returned to a queue that had released it")
    }
    if isDescriptionNew { monitor.descriptionDidChange(operation, status) }
  }

  @inline(never)
  private mutating func takeInBarrier(
    _ barrier: Operation, _ status: OperationStatus, _ effects: inout QueueEffects
  ) {
    switch barrier.place.stage {
    case .outside:
      retainedCount += 1
      if isClosed { cancelLate(barrier, &effects) }
      barriers.append(.passUnretained(barrier), unfinished: counts.unfinished)
      barrier.place.stage = .waiting
    // A cancelled barrier still waits its turn. Otherwise, the barrier would no longer separate the
    // operations before and behind it.
    case .waiting, .ready, .executing: break
    case .lingering: if !status.isHeldInQueue { letGo(barrier, &effects) }
    case .gone: preconditionFailure("A barrier returned to a queue that had released it")
    }
  }

  /// Chooses the next operation to start, or a barrier if it is due. Returns `nil` if no slot is free.
  @inline(__always)
  mutating func takeNext() -> StartableOperation? {
    guard restraints.isEmpty else { return takeNextRestrained() }
    return hasFreeSlot ? takeFirst(startsAtOnce: true) : nil
  }

  /// Chooses the first ready operation, or a barrier if it is due.
  ///
  /// - Parameter startsAtOnce: Whether the choice starts a block operation that needs no check. If it is
  ///   `false`, the limit of starts applies, and the operation is checked before its start.
  /// - Returns: The operation; `nil` if none may start.
  /// - Precondition: A slot is free.
  @inline(__always)
  mutating func takeFirst(startsAtOnce: Bool) -> StartableOperation? {
    while let next = ready.firstInPlace() {
      if !startsAtOnce, isStartLimitReached, !ready.hasCancelled { return nil }
      if let taken = take(next, startsAtOnce: startsAtOnce) { return taken }
    }
    return barriers.front == .due ? startBarrier(startsAtOnce: startsAtOnce) : nil
  }

  /// Chooses a ready operation that is not behind a barrier. Returns `nil` if it may no longer be started.
  @inline(__always)
  mutating func take(
    _ next: Unmanaged<Operation>, startsAtOnce: Bool
  ) -> StartableOperation? {
    next._withUnsafeGuaranteedRef { operation in
      let isBlock = startsAtOnce && operation.isExactlyBlockOperation
      // If many operations are ready, the memory of the next operation is no longer in a processor cache.
      // It is fetched while the chosen operation runs.
      if let following = operation.neighbours.inBand.next {
        csystem_prefetch_two_lines(following.toOpaque())
      }
      let (isTaken, status) = operation.update { ($0.dispatch(startsAtOnce: isBlock), $0) }
      guard isTaken else {
        // The operation may no longer be started, because a dependency was added or it has finished. The
        // inbox contains this change.
        move(operation, from: .ready, to: .waiting, status)
        return nil
      }
      move(operation, from: .ready, to: .executing, status)
      return StartableOperation(
        next, isBlock: isBlock, status, countsAsStart: !startsAtOnce && !status.isCancelled)
    }
  }

  @inline(never)
  mutating func startBarrier(startsAtOnce: Bool) -> StartableOperation {
    let barrier = barriers.startFirst()
    return barrier._withUnsafeGuaranteedRef {
      let (_, status) = $0.update { ($0.dispatchBarrier(startsAtOnce: startsAtOnce), $0) }
      $0.place.stage = .executing
      return StartableOperation(
        barrier, isBlock: startsAtOnce && $0.isExactlyBlockOperation, status,
        countsAsStart: !startsAtOnce && !status.isCancelled)
    }
  }

  /// Chooses the next operation for one of the pool's workers. If a dispatch queue was set after
  /// the worker was requested, the worker gets no operation.
  @inline(__always)
  mutating func takeNextForWorker() -> StartableOperation? {
    underlying == nil ? takeNext() : nil
  }

  /// Takes back an operation whose subclass's `isReady` was `false` before the start.
  ///
  /// - Returns: Whether the caller must cancel the operation, because all pending operations were
  ///   cancelled since this one was chosen.
  @discardableResult
  mutating func giveBack(_ operation: Operation, reading: UInt64) -> Bool {
    let status = operation.update { status in
      // The value `false` of `isReady` is stored before the operation is marked as not chosen. In
      // the opposite order, storing the value could claim a push, and no code here makes that push.
      _ = status.readinessWasRead(false, reading: reading)
      status.undispatch()
      return status
    }
    // The operation may have finished on its own since it was chosen, and may have left the queue.
    guard operation.place.stage == .executing else { return false }
    move(operation, to: .waiting, status)
    reposition(operation, status)
    return operation.place.isWithheld && !status.isCancelled
  }

  /// Removes a finished operation that has no dependents or whose dependents were notified.
  ///
  /// - Returns: `false` if the finish must be announced first. In that case nothing was changed.
  /// - Precondition: The inbox was read after the operation finished.
  @inline(__always)
  mutating func retire(_ operation: Operation, _ effects: inout QueueEffects) -> Bool {
    let (isRetired, status) = operation.update { ($0.retire(), $0) }
    guard isRetired else { return false }
    if status.hasAftermath { effects.addAftermath(of: operation) }
    // If the operation is still in the inbox, its finish is counted when it is taken out of the
    // inbox.
    if operation.place.stage != .outside { remove(operation, status, &effects) }
    return true
  }

  /// Adds the effects (actions after the release of the lock) that depend on the state at the end of a
  /// section.
  @inline(__always)
  mutating func endSection(_ effects: inout QueueEffects) {
    if isEmpty, !waitersForEmpty.isEmpty { takeWaiters(&effects) }
    if hasLine { admit(&effects) }
    effects.hasWork = restraints.isEmpty && underlying == nil ? hasPlainWork : hasOtherWork()
    if monitor.mayHaveWakes { takeWakes(&effects) }
  }

  @inline(never)
  private mutating func takeWaiters(_ effects: inout QueueEffects) {
    effects.mutableWakeups.waiters += waitersForEmpty.values
    waitersForEmpty = [:]
  }

  @inline(never)
  private mutating func takeWakes(_ effects: inout QueueEffects) {
    let wakes = monitor.takeWakes()
    if !wakes.isEmpty { effects.mutableWakeups.callbacks += wakes }
  }

  // MARK: Stages

  /// Moves an operation that was not started to its stage, and to the list of its priority if it is ready.
  mutating func reposition(_ operation: Operation, _ status: OperationStatus) {
    if operation.place.stage != .outside { noteCancellation(operation, status) }
    guard status.isEligible, !status.isFinished, !operation.place.isWithheld || status.isCancelled
    else {
      if operation.place.stage != .waiting {
        move(operation, to: .waiting, status)
      } else if monitor.isActive {
        monitor.stillWaits(operation, status)
      }
      return
    }
    let band =
      status.isCancelled
      ? ReadyBands.cancelled : ReadyBands.band(priorityIndex: status.priorityIndex)
    if operation.place.stage == .ready {
      if operation.place.band == band { return }
      leaveBand(operation)
      operation.place.band = band
      enterBand(operation)
    } else {
      operation.place.band = band
      move(operation, to: .ready, status)
    }
  }

  private mutating func noteCancellation(_ operation: Operation, _ status: OperationStatus) {
    guard status.isCancelled, !operation.place.isCountedAsCancelling else { return }
    operation.place.isCountedAsCancelling = true
    counts.cancelling += 1
    if monitor.isActive { monitor.wasCancelled(operation, status) }
  }

  /// Changes the stage of an operation and the counts. Other code sets a stage only if these counts
  /// stay the same: for barriers, and for operations that the queue releases. `known` is the
  /// operation's present stage, if the caller knows it.
  @inline(__always)
  private mutating func move(
    _ operation: Operation, from known: QueuePlace.Stage? = nil, to stage: QueuePlace.Stage,
    _ status: OperationStatus
  ) {
    let old = known ?? operation.place.stage
    switch old {
    case .waiting: counts.waiting -= 1
    case .ready:
      counts.ready -= 1
      leaveBand(operation)
    case .executing: counts.executing -= 1
    case .outside, .lingering, .gone: break
    }
    operation.place.stage = stage
    switch stage {
    case .waiting: counts.waiting += 1
    case .ready:
      counts.ready += 1
      enterBand(operation)
    case .executing: counts.executing += 1
    case .outside, .lingering, .gone: break
    }
    if monitor.isActive { monitor.didMove(operation, from: old, to: stage, status) }
  }

  @inline(__always)
  private mutating func enterBand(_ operation: Operation) {
    if barriers.isEmpty {
      ready.append(.passUnretained(operation), to: operation.place.band)
    } else {
      barriers.append(operation, front: &ready)
    }
  }

  @inline(__always)
  private mutating func leaveBand(_ operation: Operation) {
    if barriers.isEmpty {
      ready.remove(.passUnretained(operation), from: operation.place.band)
    } else {
      barriers.remove(operation, front: &ready)
    }
  }

  @inline(__always)
  private mutating func remove(
    _ operation: Operation, _ status: OperationStatus, _ effects: inout QueueEffects
  ) {
    if status.has(.barrier) {
      ready = barriers.finishFirst()
      operation.place.stage = .lingering
    } else {
      if operation.place.isCountedAsCancelling { counts.cancelling -= 1 }
      if status.isCancelled {
        counts.cancelled += 1
        if !status.has(.executing) { unstartedCount += 1 }
      } else {
        counts.countFinish(hasFailed: operation.hasFailed(status))
      }
      operations.remove(.passUnretained(operation))
      move(operation, to: .lingering, status)
      barriers.didLeave(operation)
    }
    // The queue releases the operation now, unless another thread is about to push it into the inbox again.
    // In that case, the queue releases it after that push.
    if !status.isHeldInQueue { letGo(operation, &effects) }
  }

  private mutating func letGo(_ operation: Operation, _ effects: inout QueueEffects) {
    operation.place.stage = .gone
    retainedCount -= 1
    effects.release(operation)
  }
}
