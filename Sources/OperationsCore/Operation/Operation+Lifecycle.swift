// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

extension Operation {
  // MARK: Start

  /// Starts the operation, and announces each change.
  ///
  /// - Returns: Whether this has finished it, so that the caller must call `finishWasSet`.
  final func run(isByHand: Bool) -> Bool {
    let isReadyNow = status.load(ordering: .acquiring).has(.dispatched) || isReady
    switch update({ $0.claimStart(isReady: isReadyNow, isByHand: isByHand) }) {
    case .nothing: return false
    case .refuse(let kind):
      refuseStart(kind)
      return false
    case .finishWithoutRunning: return finishUnrun()
    case .run:
      // The change is not announced a second time if a subclass has announced it before it called
      // `super`.
      if !status.load(ordering: .acquiring).isExecuting {
        announce("isExecuting") { _ = update { $0.noteExecuting() } }
      }
      // An observer may have finished it.
      if status.load(ordering: .acquiring).isFinished { return false }
      let isBodyDone = CurrentWork.run(self) { runBody() }
      return isBodyDone && finishesWithMain && finish(wasExecuting: true)
    }
  }

  /// Finishes after the blocks have run. An observer may have been added meanwhile.
  final func finishRun() {
    if update({ $0.finishUnobserved() }) == nil { _ = finish(wasExecuting: true) }
  }

  /// Finishes the operation between the announcements of that and, if its class requests it,
  /// releases its work.
  ///
  /// Can be called on any thread.
  ///
  /// - Returns: Whether the caller must call ``finishWasSet(discardsWork:)``. `false` if a subclass
  ///   has announced the finish before, because its consequences were handled then, and if the
  ///   release of the work has retired the operation.
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

  /// Whether the return of `main()` finishes the operation. If a subclass's `isFinished` is
  /// `false`, it finishes when the subclass announces that.
  private final var finishesWithMain: Bool {
    if isExactlyBlockOperation || status.load(ordering: .acquiring).isFinished { return true }
    update { $0.insert(.asksWhetherFinished) }
    return saysThatItHasFinished
  }

  /// Reads the overridable `isFinished`.
  ///
  /// After `main()` has returned, the base class's flags answer as if it had finished, for an
  /// override that adds a condition to the answer of `super`.
  final var saysThatItHasFinished: Bool {
    // A subclass's thread changes the state of its override, and then reads this. The thread that
    // ran `main()` sets the flag, and then reads this. At least one of them sees the other's
    // change.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard status.load(ordering: .acquiring).has(.asksWhetherFinished) else { return isFinished }
    return Delivery.asIfFinished(self) { isFinished }
  }

  /// Whether the overridable `isExecuting` becomes `false` by the finish, and does not depend on
  /// the subclass's own flag.
  ///
  /// - Precondition: The subclass has announced its finish.
  final var endsExecutingByFinishing: Bool {
    guard isExecuting else { return false }
    update { $0.insert(.asksWhetherFinished) }
    return !Delivery.asIfFinished(self) { isExecuting }
  }

  /// The base class's value of `isFinished`.
  @inline(__always)
  final var answersAsFinished: Bool {
    let status = status.load(ordering: .acquiring)
    return status.isFinished
      || status.has(.asksWhetherFinished) && Delivery.isAskedAsIfFinished(self)
  }

  /// The base class's value of `isExecuting`.
  @inline(__always)
  final var answersAsExecuting: Bool {
    let status = status.load(ordering: .acquiring)
    return status.isExecuting
      && !(status.has(.asksWhetherFinished) && Delivery.isAskedAsIfFinished(self))
  }

  private static let refusals: [Misuse.Kind: String] = [
    .receiverAlreadyExecuting: "it is already executing",
    .receiverNotReady: "it is not yet ready to execute",
    .simultaneousStart: "another thread is starting it",
    .startOfEnqueuedOperation: "it is enqueued in an operation queue, which will start it",
  ]

  private final func refuseStart(_ kind: Misuse.Kind) {
    let reason = Self.refusals[kind].map { ": \($0)" } ?? ""
    Misuse.raise(kind, "-[Operation start]: \(description) cannot be started\(reason)")
  }

  // MARK: Readiness

  /// Reads the overridable `isReady`, and notifies the queue if the value is new to it.
  final func readReadinessAgain() {
    let reading = update { $0.beginReading() }
    noteReadiness(isReady, reading: reading)
  }

  /// Handles a value of the overridable `isReady`, and notifies the queue if the value is new to it.
  ///
  /// - Parameters:
  ///   - isReadyNow: The value.
  ///   - reading: The number of the reading.
  ///   - isFirst: Whether a value that the queue has read meanwhile is preferred.
  final func noteReadiness(_ isReadyNow: Bool, reading: UInt64, isFirst: Bool = false) {
    let (isCurrent, mustPush) = update {
      isFirst && $0.has(.selfNotReady)
        ? (false, false) : $0.readinessWasRead(isReadyNow, reading: reading)
    }
    if mustPush { pushToQueue() }
    if isCurrent, !isReadyNow, status.load(ordering: .relaxed).has(.excludesOthers) {
      // The queue reads it once more, because another thread may have read `true` since then.
      loseItsTurn(isReady: true)
    }
  }

  // MARK: Cancel

  final func performCancel() {
    if csystem_is_forked_child() { checkProcessBeforeChange() }
    if isExactlyBlockOperation, let verdict = update({ $0.cancelUnobserved() }) {
      if verdict.mustPush { pushToQueue() }
      return
    }
    let announcesFlag = update { $0.claimCancel() }
    if announcesFlag { willChangeValue(forKey: "isCancelled") }
    // If another thread is just announcing the cancellation, the flag is set here too, so that it
    // is set when `cancel()` returns.
    let verdict = update { $0.cancel(isAnnounced: true) }
    if announcesFlag {
      guard status.load(ordering: .acquiring).isCancelled else {
        // It has finished since: the cancellation is too late and has changed nothing.
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

  /// Handles the consequences of the finish: dependents, then the queue, then waiters and the
  /// completion block.
  ///
  /// Called once, by the thread that set the status to finished. This can be any thread, possibly
  /// under a lock of the subclass. The only user code that is called from here are `deinit`s,
  /// observers of dependents and of the queue with the getters that they need, and the queue's
  /// `willChangeValue(forKey:)` and `didChangeValue(forKey:)` if it is observed. The `deinit`s come
  /// last: they may wait for other operations of the queue, which may need this one's slot.
  ///
  /// The queue is valid: only this thread retires the operation, and until then the queue does not
  /// release it. A refused batch does not take a finished operation back before it is retired.
  ///
  /// - Parameter discardsWork: Whether to release the work of an operation that was started
  ///   directly too.
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

  /// Wakes waiters and submits the completion block. The status is `retired` already.
  final func wasRetired() {
    let status = status.load(ordering: .acquiring)
    if status.has(.hasWaiters) { wakeWaiters() }
    if status.has(.hasCompletion) { submitCompletion() }
  }

  private final func submitCompletion() {
    guard withRare({ $0?.completionBlock != nil }) else { return }
    ForkedProcess.check("to run a completion block")
    // Asynchronously, because the finishing thread may hold locks of the user. The operation lives
    // until its block has run.
    OperationQueue.completions.addOperation {
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

  /// - Returns: Whether it was in time.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) -> Bool {
    // The old one is released after the lock, because its captures may have a `deinit` of the
    // user's.
    let (isInTime, replaced) = makeRare { rare -> (Bool, (@Sendable () -> Void)?) in
      guard update({ $0.promise(.hasCompletion) }) else { return (false, nil) }
      defer { rare.completionBlock = block }
      return (true, rare.completionBlock)
    }
    withExtendedLifetime(replaced) {}
    return isInTime
  }

  final func noteLateCompletionBlock() {
    Diagnostic.note(
      .completionBlockAfterFinish,
      "\(description) has finished; its new completionBlock will not run")
  }

  // MARK: Queue

  /// The queue that has the operation; valid until the operation is retired.
  final var enqueuedQueue: Unmanaged<QueueCore>? {
    // The queue was stored before the flag was set.
    status.load(ordering: .acquiring).has(.enqueued) ? queue.load(ordering: .acquiring) : nil
  }

  final func setPriority(_ priority: QueuePriority) {
    // An operation in the inbox must be taken out first: it is placed by its priority at that
    // moment, and would otherwise come before operations that were added between itself and the
    // change.
    let isPinned = update { $0.pinInInbox() }
    if isPinned, let queue = enqueuedQueue {
      queue._withUnsafeGuaranteedRef { $0.withScheduler { _, _ in } }
    }
    if update({ $0.setPriority(priority.index) }).mustPush { pushToQueue() }
    if status.load(ordering: .relaxed).has(.excludesOthers) { loseItsTurn(isReady: true) }
    if isPinned, update({ $0.unpin() }) { pushToQueue() }
  }

  /// Pushes the operation into its queue's inbox.
  ///
  /// - Precondition: The caller has set `inInbox` in the status. This keeps the queue alive: an
  ///   operation that is about to enter the inbox is not released.
  final func pushToQueue() {
    guard let queue = enqueuedQueue else { return }
    queue._withUnsafeGuaranteedRef { $0.pushAgain(self) }
  }

  /// Notifies a collector, if there is one, that name, priority or dependencies have changed.
  @inline(__always)
  final func noteDescriptionChanged() {
    if MonitorLevel.isOn { noteDescriptionForCollector() }
  }

  @inline(never)
  private final func noteDescriptionForCollector() {
    if update({ $0.descriptionDidChange() }) { pushToQueue() }
  }
}
