// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The events. Each changes the value and says what its caller has to do.
extension OperationStatus {
  /// What an event asks for that may have made the operation ready.
  struct Verdict: Equatable {
    /// The event took effect.
    var isNews = false
    /// It is held back that the operation is ready: the caller must announce that, and release it
    /// in between. Nothing is to be pushed before.
    var becameReady = false
    /// The caller must announce `isReady` although it was `true` before.
    var announcesReadiness = false
    /// The caller must push the operation into its queue's inbox.
    var mustPush = false
    /// It is ready by this as far as dependencies count: an overridden `isReady` is to be asked.
    var asksReadiness = false
  }

  enum StartVerdict: Equatable {
    /// Run `main()`.
    case run
    /// It was cancelled: finish it, and see to what follows.
    case finishWithoutRunning
    /// It has finished already: do nothing.
    case nothing
    case refuse(Misuse.Kind)
  }

  /// A queue takes it, and is about to push it. `false` where it may not: the operation is or was
  /// in a queue, or has been started.
  mutating func enqueue() -> Bool {
    guard !has(.enqueued), isPending else { return false }
    insert([.enqueued, .inInbox])
    return true
  }

  /// The batch that it was part of was refused; it was not pushed. No other thread pins it.
  ///
  /// - Returns: `false`, with nothing done, if it has finished and is not retired: its finisher uses the
  ///   queue.
  mutating func takeBackEnqueue() -> Bool {
    if isFinished, !has(.retired) { return false }
    remove([.enqueued, .inInbox, .pinned])
    return true
  }

  /// The queue takes it out of the inbox. Returns whether its description is news.
  mutating func leaveInbox() -> Bool {
    defer { remove([.inInbox, .descriptionChanged]) }
    return has(.descriptionChanged)
  }

  /// Keeps the queue from letting go of the operation. `false` where another thread does.
  mutating func pin() -> Bool {
    if has(.pinned) { return false }
    insert(.pinned)
    return true
  }

  /// As ``pin()``, for one whose news its queue has not read yet. `false` where it has.
  mutating func pinInInbox() -> Bool { has(.inInbox) && !has(.retired) && pin() }

  /// Ends what ``pin()`` began. Returns whether the caller must push, so that the queue looks again
  /// whether to let go of it.
  mutating func unpin() -> Bool {
    remove(.pinned)
    if !has(.enqueued) || has(.inInbox) { return false }
    insert(.inInbox)
    return true
  }

  /// Whether the queue may let go of it once it has left.
  var isHeldInQueue: Bool { has(.inInbox) || has(.pinned) }

  /// A collector wants to hear of a new name, priority or dependency.
  /// - Returns: Whether the caller must push.
  mutating func descriptionDidChange() -> Bool {
    insert(.descriptionChanged)
    return claimPush()
  }

  /// The queue chooses it to be started.
  ///
  /// - Parameter startsAtOnce: Whether its class leaves nothing to ask before the start. Then it is
  ///   started by this, unless somebody observes or it was cancelled.
  /// - Returns: `false` where it is not eligible any more.
  mutating func dispatch(startsAtOnce: Bool = false) -> Bool {
    guard isEligible, isPending else { return false }
    insert(.dispatched)
    let asksFirst: Flags = [.cancelled, .observed, .excludesOthers]
    if startsAtOnce, rawValue & asksFirst.rawValue == 0 { insert([.startClaimed, .executing]) }
    return true
  }

  /// The queue takes its choice back because the subclass's `isReady` said no.
  mutating func undispatch() { remove(.dispatched) }

  /// Base `start()` claims the operation. What the answer says changes the status later, between
  /// its announcements, by ``noteExecuting()`` or ``finish()``.
  ///
  /// - Parameters:
  ///   - isReady: What the overridable `isReady` answered.
  ///   - isByHand: Whether it is known that no worker calls. Else a call that comes once the queue
  ///     has chosen the operation is taken for the worker's.
  /// - Returns: What the caller has to do.
  mutating func claimStart(isReady: Bool, isByHand: Bool = false) -> StartVerdict {
    if isFinished { return .nothing }
    // A subclass that calls `super.start()` may have said before that it executes.
    if isExecuting, has(.startClaimed) { return .refuse(.receiverAlreadyExecuting) }
    if has(.startClaimed) { return .refuse(.simultaneousStart) }
    if has(.enqueued), isByHand || !has(.dispatched) {
      return .refuse(.startOfEnqueuedOperation)
    }
    guard isCancelled || isReady || has(.dispatched) else { return .refuse(.receiverNotReady) }
    insert(.startClaimed)
    // A subclass with a cancelled flag of its own cleans up, and finishes, in its `main()`.
    return has(.cancelled) ? .finishWithoutRunning : .run
  }

  /// A worker starts one that has nobody to announce it to: claim and change in one step.
  ///
  /// - Returns: `nil` where somebody observes: nothing has happened.
  mutating func startUnobserved() -> StartVerdict? {
    if has(.observed) { return nil }
    let verdict = claimStart(isReady: true)
    switch verdict {
    case .run: insert(.executing)
    case .finishWithoutRunning: insert(.finished)
    case .nothing, .refuse: break
    }
    return verdict
  }

  /// It executes: the base class has announced it, or a subclass says so, which does not claim base
  /// `start()`.
  ///
  /// - Returns: Whether it does; not where it has finished.
  @discardableResult
  mutating func noteExecuting() -> Bool {
    if isFinished { return false }
    insert(.executing)
    return true
  }

  /// The base class or a subclass says that it has finished. `true` the first time.
  mutating func finish() -> Bool {
    if isFinished { return false }
    insert(.finished)
    return true
  }

  /// As ``finish()``, where nobody has to be told. `nil` where somebody observes.
  mutating func finishUnobserved() -> Bool? { has(.observed) ? nil : finish() }

  /// Whether its finish has nobody to tell before waiters and the queue.
  var finishesQuietly: Bool {
    rawValue & Flags.beforeRetirement.rawValue == 0
  }

  /// Everything that follows the finish is done. Where nobody is to be told of it, the finish itself
  /// is left to this.
  ///
  /// - Returns: `false` where it has not finished and there is somebody.
  mutating func retire() -> Bool {
    guard isFinished || finishesQuietly else { return false }
    insert([.finished, .retired])
    return true
  }

  /// Whether there is something to do once it is retired.
  var hasAftermath: Bool { rawValue & Flags.afterRetirement.rawValue != 0 }

  /// Base `cancel()` claims the announcement of what it is about to change. `false` where there is
  /// nothing to announce, or another thread does.
  mutating func claimCancel() -> Bool {
    if isFinished || has(.cancelled) || has(.cancelClaimed) { return false }
    insert(.cancelClaimed)
    return true
  }

  /// As ``cancel(isAnnounced:)``, where nobody has to be told. `nil` where somebody observes.
  mutating func cancelUnobserved() -> Verdict? {
    has(.observed) ? nil : cancel(isAnnounced: false)
  }

  /// It is cancelled now.
  ///
  /// - Parameter isAnnounced: The caller announces the change, and pushes after that by itself.
  /// - Returns: What the caller has to do.
  mutating func cancel(isAnnounced: Bool) -> Verdict {
    if isFinished || has(.cancelled) { return Verdict() }
    let wasUnheld = isUnheld
    insert(.cancelled)
    let mustHold = !wasUnheld && isAnnounced
    if mustHold { insert(.readinessHeld) }
    return Verdict(
      isNews: true, becameReady: mustHold,
      announcesReadiness: isAnnounced && !mustHold && isPending,
      mustPush: !isAnnounced && claimPush())
  }

  /// A subclass has announced that its own `isCancelled` is `true`. The caller pushes by itself.
  mutating func subclassWasCancelled() -> Verdict {
    if isFinished || isCancelled { return Verdict() }
    let wasUnheld = isUnheld
    insert(.cancelledBySubclass)
    // An answer that was given while dependencies held it up says nothing any more.
    forgetVerdict()
    if !wasUnheld { insert(.readinessHeld) }
    return Verdict(isNews: true, becameReady: !wasUnheld)
  }

  /// A dependency that has not finished was added. It counts only while it can hold up the start.
  /// - Returns: Whether it was counted, and what that asks for.
  mutating func dependencyWasAdded() -> (isCounted: Bool, mustPush: Bool) {
    guard isPending, !isCancelled else { return (false, false) }
    let (counted, isTooMany) = rawValue.addingReportingOverflow(Self.oneUnmet)
    if isTooMany { Self.refuseDependency() }
    rawValue = counted
    insert(.hasDependencies)
    forgetVerdict()
    return (true, claimPush())
  }

  /// Not a precondition, whose message a release build does not print.
  @inline(never)
  private static func refuseDependency() -> Never {
    fatalError(
      "Operations: an operation can wait for at most 16,777,215 dependencies at the same time")
  }

  /// As ``dependencyWasMet(isAnnounced:)``, without a reference to the operation. `nil`, with nothing
  /// done, where one is needed: the operation is not in a queue that retains it, or somebody is to be
  /// told.
  ///
  /// One that must be pushed stays in its queue until that is done, and so needs no reference.
  mutating func dependencyWasMetInQueue() -> Verdict? {
    guard has(.enqueued), !has(.retired), !has(.observed) else { return nil }
    return dependencyWasMet()
  }

  /// A counted dependency has finished, or was removed.
  ///
  /// - Parameter isAnnounced: The caller announces what that changes, whether observed or not.
  /// - Returns: What the caller has to do.
  mutating func dependencyWasMet(isAnnounced: Bool = false) -> Verdict {
    precondition(unmetDependencyCount > 0, "A dependency was counted off that was never counted")
    let wasUnheld = isUnheld
    rawValue -= Self.oneUnmet
    guard unmetDependencyCount == 0 else { return Verdict(isNews: true) }
    forgetVerdict()
    // Where it is held back already, whoever did that announces it and pushes.
    let isHeldByAnother = has(.readinessHeld)
    let mustHold = !wasUnheld && !isHeldByAnother && (isAnnounced || has(.observed))
    if mustHold { insert(.readinessHeld) }
    let mustPush = isPending && !mustHold && !isHeldByAnother && claimPush()
    return Verdict(
      isNews: true, becameReady: mustHold, mustPush: mustPush,
      asksReadiness: !wasUnheld)
  }

  /// It may be seen now that the operation is ready, if it still is.
  ///
  /// Whoever has read `isReady` meanwhile was told "no" for the sake of the announcement alone.
  mutating func releaseReadiness() {
    remove(.readinessHeld)
    forgetVerdict()
  }

  /// The overridable `isReady` was asked for `reading`. An answer to an older reading is dropped.
  ///
  /// - Returns: Whether the answer counts, and whether the queue must look again.
  mutating func readinessWasRead(
    _ isReadyNow: Bool, reading: UInt64
  ) -> (isCurrent: Bool, mustPush: Bool) {
    guard reading == self.reading else { return (false, false) }
    guard isPending else { return (true, false) }
    let wasEligible = isEligible
    remove(.selfVerdict)
    if !isReadyNow {
      insert(.selfNotReady)
    } else if !isUnheld {
      insert(.selfReady)
    }
    return (true, wasEligible != isEligible && !has(.dispatched) && claimPush())
  }

  /// The dependencies are others than when `isReady` was read: the answer, and one that a thread is
  /// about to bring, says nothing any more. Were the latter not dropped, a "no" read just before the
  /// last dependency finished would hold the operation up for ever.
  private mutating func forgetVerdict() {
    remove(.selfVerdict)
    _ = beginReading()
  }

  /// `isReady` is about to be read because a subclass says that it has changed.
  mutating func beginReading() -> UInt64 {
    let next = (rawValue &+ Self.oneReading) & Self.readingMask
    rawValue = rawValue & ~Self.readingMask | next
    return reading
  }

  /// It excludes others from now on. `false` where its queue has asked for that already.
  mutating func excludeOthers() -> Bool {
    guard isPending, !has(.dispatched) else { return false }
    insert(.excludesOthers)
    return true
  }

  /// It should ask for its exclusions again. Returns whether the queue must look again.
  ///
  /// A "no" that is on its way is dropped, as it is about what was.
  mutating func exclusionHasEnded() -> Bool {
    forgetVerdict()
    // A subclass may be ready although dependencies are unmet. Its `isReady` is asked before the start.
    if !isUnheld { insert(.selfReady) }
    return isPending && !has(.dispatched) && claimPush()
  }

  /// The priority was set. - Returns: Whether it is another one, and whether the queue must look.
  mutating func setPriority(_ index: Int) -> (changed: Bool, mustPush: Bool) {
    if index == priorityIndex { return (false, false) }
    priorityIndex = index
    return (true, isPending && !has(.dispatched) && claimPush())
  }

  /// Somebody wants to be told of the finish. `false` where it is too late.
  mutating func promise(_ flag: Flags) -> Bool {
    if isFinished { return false }
    insert(flag)
    return true
  }
}
