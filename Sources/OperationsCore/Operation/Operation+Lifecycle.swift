// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension Operation {
  // MARK: Start

  /// Starts the operation, and announces each change.
  ///
  /// - Returns: Whether this call has finished the operation. If it has, the caller must call `finishWasSet`.
  final func run(isByHand: Bool) -> Bool {
    let isReadyNow = status.load(ordering: .acquiring).has(.dispatched) || isReady
    switch update({ $0.claimStart(isReady: isReadyNow, isByHand: isByHand) }) {
    case .nothing: return false
    case .refuse(let kind):
      refuseStart(kind)
      return false
    case .finishWithoutRunning: return finishUnrun()
    case .run:
      // If a subclass has already announced that the operation executes, before it called
      // `super.start()`, this change is not announced a second time.
      if !status.load(ordering: .acquiring).isExecuting {
        announce("isExecuting") { _ = update { $0.noteExecuting() } }
      }
      // While `isExecuting` was announced, an observer may have finished the operation.
      if status.load(ordering: .acquiring).isFinished { return false }
      var isBodyDone = false
      CurrentWork.run(self) {
        withContext {
          isBodyDone = runBody()
          return isBodyDone
        }
      }
      return isBodyDone && finishesWithMain && finish(wasExecuting: true)
    }
  }

  /// Finishes the operation after its blocks have run. If an observer was added while the blocks
  /// ran, the finish is announced.
  final func finishRun() {
    if update({ $0.finishUnobserved() }) == nil { _ = finish(wasExecuting: true) }
  }

  /// Finishes the operation, and announces this change before and after it. If the operation's
  /// class requests it, the work is released.
  ///
  /// Can be called on any thread.
  ///
  /// - Returns: Whether the caller must call ``finishWasSet(discardsWork:)``. The result is `false`
  ///   if a subclass has already announced the finish, because the consequences were handled at
  ///   that time. It is also `false` if the release of the work has retired the operation.
  final func finish(wasExecuting: Bool) -> Bool {
    if status.load(ordering: .acquiring).isFinished { return false }
    let isFirst = Delivery.during(self) {
      if wasExecuting { willChangeValue(forKey: "isExecuting") }
      willChangeValue(forKey: "isFinished")
      let isFirst = update { $0.finish() }
      if wasExecuting { ownValueDidChange(forKey: "isExecuting") }
      ownValueDidChange(forKey: "isFinished")
      return isFirst
    }
    guard isFirst else { return false }
    return !releasesWorkFirst || !CurrentWork.releasing(self) { discardWork() }
  }

  // MARK: Finishes that a subclass decides

  /// Whether the return of `main()` finishes the operation. If a subclass's `isFinished` is `false`, the
  /// operation finishes when the subclass announces the finish.
  private final var finishesWithMain: Bool {
    if isExactlyBlockOperation || status.load(ordering: .acquiring).isFinished { return true }
    update { $0.insert(.asksWhetherFinished) }
    return saysThatItHasFinished
  }

  /// Reads the overridable `isFinished`.
  ///
  /// After `main()` has returned, the base class's flags answer as if the operation had finished. An override
  /// may add a condition to the answer of `super`.
  final var saysThatItHasFinished: Bool {
    // A thread of the subclass changes the state of its override, and then reads this property. The
    // thread that ran `main()` sets the flag `asksWhetherFinished`, and then reads this property.
    // At least one of the two threads sees the other thread's change.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard status.load(ordering: .acquiring).has(.asksWhetherFinished) else { return isFinished }
    return Delivery.asIfFinished(self) { isFinished }
  }

  /// Whether the overridable `isExecuting` becomes `false` when the base class finishes the
  /// operation. To find out, this property reads `isExecuting` twice: normally, and while the base
  /// class's flags have the values of a finished operation. The result is `false` if the override
  /// depends only on the subclass's own flag.
  ///
  /// - Precondition: The subclass has announced its finish.
  final var endsExecutingByFinishing: Bool {
    guard isExecuting else { return false }
    update { $0.insert(.asksWhetherFinished) }
    return !Delivery.asIfFinished(self) { isExecuting }
  }

  /// The value of `isFinished` in the base class, without a subclass's override.
  @inline(__always)
  final var answersAsFinished: Bool {
    let status = status.load(ordering: .acquiring)
    return status.isFinished
      || status.has(.asksWhetherFinished) && Delivery.isAskedAsIfFinished(self)
  }

  /// The value of `isExecuting` in the base class, without a subclass's override.
  @inline(__always)
  final var answersAsExecuting: Bool {
    let status = status.load(ordering: .acquiring)
    return status.isExecuting
      && !(status.has(.asksWhetherFinished) && Delivery.isAskedAsIfFinished(self))
  }

  private static let refusals: [OperationMisuse.Kind: String] = [
    .receiverAlreadyExecuting: "it is already executing",
    .receiverNotReady: "it is not yet ready to execute",
    .simultaneousStart: "another thread is starting it",
    .startOfEnqueuedOperation: "it is enqueued in an operation queue, which will start it",
  ]

  private final func refuseStart(_ kind: OperationMisuse.Kind) {
    let reason = Self.refusals[kind].map { ": \($0)" } ?? ""
    OperationMisuse.raise(kind, "-[Operation start]: \(description) cannot be started\(reason)")
  }

  // MARK: Readiness

  /// Reads the overridable `isReady`, and notifies the queue if the value has changed.
  final func readReadinessAgain() {
    let reading = update { $0.beginReading() }
    noteReadiness(isReady, reading: reading)
  }

  /// Handles a value of the overridable `isReady`, and notifies the queue if the value has changed.
  ///
  /// - Parameters:
  ///   - isReadyNow: The value that was read.
  ///   - reading: The serial number of the reading that returned the value.
  ///   - isFirst: Whether to drop the value if another reading has returned `false` since this
  ///     reading began.
  final func noteReadiness(_ isReadyNow: Bool, reading: UInt64, isFirst: Bool = false) {
    let (isCurrent, mustPush) = update {
      isFirst && $0.has(.selfNotReady)
        ? (false, false) : $0.readinessWasRead(isReadyNow, reading: reading)
    }
    if mustPush { pushToQueue() }
    if isCurrent, !isReadyNow, status.load(ordering: .relaxed).has(.excludesOthers) {
      // The queue reads the `isReady` of the operation once more, because another thread may have
      // read `true` since this thread read `false`.
      loseItsTurn(isReady: true)
    }
  }

  // MARK: Cancel

  final func performCancel() {
    if csystem_is_forked_child() { checkProcessBeforeChange() }
    if MonitorLevel.isOn { noteCancellationCause() }
    if isExactlyBlockOperation, let verdict = update({ $0.cancelUnobserved() }) {
      if verdict.mustPush { pushToQueue() }
      return
    }
    let announcesFlag = update { $0.claimCancel() }
    if announcesFlag { willChangeValue(forKey: "isCancelled") }
    // If another thread is announcing the cancellation at this moment, this thread also sets the
    // cancelled flag, so that the flag is set when `cancel()` returns.
    let verdict = update { $0.cancel(isAnnounced: true) }
    if announcesFlag {
      guard status.load(ordering: .acquiring).isCancelled else {
        // The operation has finished since `cancel()` was called. The cancellation was too late and
        // has changed nothing.
        observations?.withdrawChange(.named("isCancelled"))
        return
      }
      ownValueDidChange(forKey: "isCancelled")
    }
    if verdict.becameReady {
      announceReadiness()
    } else if verdict.announcesReadiness, status.load(ordering: .acquiring).isPending {
      announceUnchangedReadiness()
    } else if verdict.isNews {
      pushNews()
    }
  }

  // MARK: Finish

  /// Handles the consequences of the finish: notifies the dependents, then the queue, then waiting threads
  /// and tasks, and submits the completion block.
  ///
  /// Called once, by the thread that set the status to finished. This can be any thread, possibly
  /// under a lock of the subclass. Only the following user code is called from here: `deinit`s;
  /// observers of dependents and of the queue, with the getters that they need; and, if the queue
  /// is observed, its `willChangeValue(forKey:)` and `didChangeValue(forKey:)`. The `deinit`s come
  /// last: they may wait for other operations of the queue, which may need this operation's slot.
  ///
  /// The reference to the queue is valid: only this thread retires the operation, and until then
  /// the queue does not release it. If the operation's batch was refused, the operation stays in
  /// the queue until it is retired.
  ///
  /// - Parameter discardsWork: Whether to release the work also if the program started the operation
  ///   directly.
  final func finishWasSet(discardsWork: Bool = false) {
    let forgotten = takeForgottenDependencies()
    releaseDependents()
    let queue = enqueuedQueue
    let mayRunAgain =
      !discardsWork && queue == nil && status.load(ordering: .relaxed).has(.executing)
    let work = takeWork(mayRunAgain: mayRunAgain)
    if let queue {
      queue._withUnsafeGuaranteedRef { $0.retire(self) }
    } else {
      update { _ = $0.retire() }
      wasRetired()
    }
    withExtendedLifetime(work) {}
    release(forgotten)
  }

  /// Runs `body`, which announces to the queue's observers that the queue removes the operation, and removes
  /// it. Waiting threads and tasks continue after the announcement. If an observer waits for the operation
  /// on this thread, its wait returns immediately.
  final func announcingRemoval(_ body: () -> Void) {
    update { $0.insert(.removalAnnounced) }
    Delivery.during(self, body)
    update { $0.remove(.removalAnnounced) }
  }

  /// Wakes waiting threads and tasks, and submits the completion block. The status is already `retired`.
  final func wasRetired() {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasWaiters) { wakeWaiters() }
    if status.has(.hasCompletion) { submitCompletion() }
  }

  private final func submitCompletion() {
    guard withRare({ $0?.completionBlock != nil }) else { return }
    ForkedProcess.check("to run a completion block")
    // The completion block runs asynchronously, because the finishing thread may hold locks of the user. The
    // operation lives until the block has run.
    OperationQueue.unstartedCompletionBlocks.add(1, ordering: .relaxed)
    OperationQueue.completions.addOperation {
      OperationQueue.unstartedCompletionBlocks.subtract(1, ordering: .relaxed)
      var block: (@Sendable () -> Void)?
      self.announce("completionBlock") { block = self.takeCompletionBlock() }
      block?()
      withExtendedLifetime(self) {}
    }
  }

  private final func takeCompletionBlock() -> (@Sendable () -> Void)? {
    withRare { rare in
      defer { rare?.completionBlock = nil }
      return rare?.completionBlock
    }
  }

  /// Sets the completion block.
  ///
  /// - Returns: Whether the block was set before the operation finished.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) -> Bool {
    // The previous completion block is released after the lock, because objects that the block has
    // captured may have a `deinit` of the user.
    let (isInTime, replaced) = makeRare { rare -> (Bool, (@Sendable () -> Void)?) in
      guard update({ $0.promise(.hasCompletion) }) else { return (false, nil) }
      defer { rare.completionBlock = block }
      return (true, rare.completionBlock)
    }
    withExtendedLifetime(replaced) {}
    return isInTime
  }

  final func noteLateCompletionBlock() {
    OperationDiagnostic.note(
      .completionBlockAfterFinish,
      "\(description) has finished; its new completionBlock will not run")
  }

  // MARK: Queue

  /// The queue that contains the operation; valid until the operation is retired (has left its
  /// queue).
  final var enqueuedQueue: Unmanaged<QueueCore>? {
    // The reference to the queue is stored before the flag `enqueued` is set, so a thread that sees
    // the flag can read the reference.
    status.load(ordering: .acquiring).has(.enqueued) ? queue.load(ordering: .acquiring) : nil
  }

  /// Sets the priority, also of an operation that finishes at the same time.
  ///
  /// If the priority changes before the operation is chosen, the operation is pushed into the
  /// queue's inbox again. If the operation finishes before that push, or while a thread pins it
  /// (keeps its queue from releasing it), the queue keeps it in the stage `lingering`. The queue
  /// releases the operation when it takes the operation out of the inbox. This also applies to a
  /// barrier. A barrier keeps its place with any priority, because the queue orders barriers only
  /// by their addition.
  final func setPriority(_ priority: QueuePriority) {
    if !setPriorityBeforeEscalation(priority) {
      applyPriority(priority)
      // A waiting task may have raised the operation for the first time since its escalation was read.
      guard setPriorityBeforeEscalation(priority) else { return }
    }
    applyEscalation()
  }

  /// Sets the priority by which the queue orders the operation.
  final func applyPriority(_ priority: QueuePriority) {
    // If the operation is in the inbox of its queue, the queue must take it out before its priority
    // changes. When the queue takes an operation out of the inbox, it places the operation by its
    // current priority. If this were the new priority, the operation would come before operations
    // that were added after it and before the change.
    let isPinned = update { $0.pinInInbox() }
    if isPinned, let queue = enqueuedQueue {
      queue._withUnsafeGuaranteedRef { $0.withScheduler { _, _ in } }
    }
    if update({ $0.setPriority(priority.index) }) { pushToQueue() }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: true) }
    if isPinned, update({ $0.unpin() }) { pushToQueue() }
  }

  /// Pushes the operation into its queue's inbox.
  ///
  /// - Precondition: The caller has set `inInbox` in the status. The flag keeps the queue alive, because an
  ///   operation that is about to enter the inbox is not released.
  final func pushToQueue() {
    guard let queue = enqueuedQueue else { return }
    queue._withUnsafeGuaranteedRef { $0.pushAgain(self) }
  }

  /// Notifies the collector, if one records, that the operation's name, priority or dependencies have
  /// changed.
  @inline(__always)
  final func noteDescriptionChanged() {
    if MonitorLevel.isOn { noteDescriptionForCollector() }
  }

  @inline(never)
  private final func noteDescriptionForCollector() {
    if update({ $0.descriptionDidChange() }) { pushToQueue() }
  }
}
