// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The events. Each changes the value and returns the actions for its caller.
extension OperationStatus {
  /// The actions after an event that may have made the operation ready.
  struct Verdict: Equatable {
    /// Whether the event took effect.
    var isNews = false
    /// The readiness is held back: the caller must announce it, and release it between the two
    /// announcements. It must not push before.
    var becameReady = false
    /// The caller must announce `isReady` although it was `true` before.
    var announcesReadiness = false
    /// The caller must push the operation into its queue's inbox.
    var mustPush = false
    /// The dependencies are finished by this event, so that an overridden `isReady` must be
    /// evaluated.
    var asksReadiness = false
  }

  enum StartVerdict: Equatable {
    /// Run `main()`.
    case run
    /// The operation was cancelled. Finish it and handle the consequences.
    case finishWithoutRunning
    /// The operation has already finished. Do nothing.
    case nothing
    case refuse(Misuse.Kind)
  }

  /// A queue takes the operation and is about to push it. Returns `false` if it may not: the
  /// operation is or was in a queue, or was started.
  mutating func enqueue() -> Bool {
    guard !has(.enqueued), isPending else { return false }
    insert([.enqueued, .inInbox])
    return true
  }

  /// Reverts ``enqueue()`` after its batch was refused; it was not pushed. No other thread pins it.
  ///
  /// - Returns: `false`, with nothing changed, if it has finished and is not retired: its finisher
  ///   uses the queue.
  mutating func takeBackEnqueue() -> Bool {
    if isFinished, !has(.retired) { return false }
    remove([.enqueued, .inInbox, .pinned])
    return true
  }

  /// The queue takes it out of the inbox. Returns whether its description has changed.
  mutating func leaveInbox() -> Bool {
    defer { remove([.inInbox, .descriptionChanged]) }
    return has(.descriptionChanged)
  }

  /// Keeps the queue from releasing the operation. Returns `false` if another thread does.
  mutating func pin() -> Bool {
    if has(.pinned) { return false }
    insert(.pinned)
    return true
  }

  /// Pins the operation if its queue has not read its change yet. Returns `false` if it has.
  mutating func pinInInbox() -> Bool { has(.inInbox) && !has(.retired) && pin() }

  /// Reverts ``pin()``. Returns whether the caller must push, so that the queue checks again
  /// whether to release it.
  mutating func unpin() -> Bool {
    remove(.pinned)
    if !has(.enqueued) || has(.inInbox) { return false }
    insert(.inInbox)
    return true
  }

  /// Whether the queue must not release it after it has left.
  var isHeldInQueue: Bool { has(.inInbox) || has(.pinned) }

  /// Notes a change of name, priority or dependencies for a collector.
  /// - Returns: Whether the caller must push.
  mutating func descriptionDidChange() -> Bool {
    insert(.descriptionChanged)
    return claimPush()
  }

  /// The queue chooses it to be started.
  ///
  /// - Parameter startsAtOnce: Whether its class requires no check before the start. In that case
  ///   this starts it, unless it is observed or was cancelled.
  /// - Returns: `false` if it is no longer eligible.
  mutating func dispatch(startsAtOnce: Bool = false) -> Bool {
    guard isEligible, isPending else { return false }
    insert(.dispatched)
    let asksFirst: Flags = [.cancelled, .observed, .excludesOthers]
    if startsAtOnce, rawValue & asksFirst.rawValue == 0 { insert([.startClaimed, .executing]) }
    return true
  }

  /// The queue reverts its choice because the subclass's `isReady` was `false`.
  mutating func undispatch() { remove(.dispatched) }

  /// Base `start()` claims the operation. The action in the result changes the status later,
  /// between its announcements, by ``noteExecuting()`` or ``finish()``.
  ///
  /// - Parameters:
  ///   - isReady: The value of the overridable `isReady`.
  ///   - isByHand: Whether the call is certainly not by a worker. Otherwise, a call after the queue
  ///     has chosen the operation counts as the worker's.
  /// - Returns: The action for the caller.
  mutating func claimStart(isReady: Bool, isByHand: Bool = false) -> StartVerdict {
    if isFinished { return .nothing }
    // A subclass that calls `super.start()` may have announced before that it executes.
    if isExecuting, has(.startClaimed) { return .refuse(.receiverAlreadyExecuting) }
    if has(.startClaimed) { return .refuse(.simultaneousStart) }
    if has(.enqueued), isByHand || !has(.dispatched) {
      return .refuse(.startOfEnqueuedOperation)
    }
    guard isCancelled || isReady || has(.dispatched) else { return .refuse(.receiverNotReady) }
    insert(.startClaimed)
    // A subclass with its own cancelled flag cleans up, and finishes, in its `main()`.
    return has(.cancelled) ? .finishWithoutRunning : .run
  }

  /// A worker starts an operation without observers: the claim and the change in one step.
  ///
  /// - Returns: `nil` if it is observed; nothing has changed then.
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

  /// Notes that it executes: the base class has announced it, or a subclass has, which does not
  /// claim base `start()`.
  ///
  /// - Returns: Whether it executes; `false` if it has finished.
  @discardableResult
  mutating func noteExecuting() -> Bool {
    if isFinished { return false }
    insert(.executing)
    return true
  }

  /// Finishes it, for the base class or a subclass. Returns `true` the first time.
  mutating func finish() -> Bool {
    if isFinished { return false }
    insert(.finished)
    return true
  }

  /// Finishes it if it has no observers. Returns `nil` if it is observed.
  mutating func finishUnobserved() -> Bool? { has(.observed) ? nil : finish() }

  /// Whether its finish needs no notification before waiters and the queue.
  var finishesQuietly: Bool {
    rawValue & Flags.beforeRetirement.rawValue == 0
  }

  /// Retires it after all consequences of the finish were handled. If no notification is necessary,
  /// this also finishes it.
  ///
  /// - Returns: `false` if it has not finished and a notification is necessary.
  mutating func retire() -> Bool {
    guard isFinished || finishesQuietly else { return false }
    insert([.finished, .retired])
    return true
  }

  /// Whether actions are necessary after its retirement.
  var hasAftermath: Bool { rawValue & Flags.afterRetirement.rawValue != 0 }

  /// Base `cancel()` claims the announcement of its changes. Returns `false` if there is nothing to
  /// announce, or if another thread announces it.
  mutating func claimCancel() -> Bool {
    if isFinished || has(.cancelled) || has(.cancelClaimed) { return false }
    insert(.cancelClaimed)
    return true
  }

  /// Cancels it like ``cancel(isAnnounced:)`` if it has no observers. Returns `nil` if it is
  /// observed.
  mutating func cancelUnobserved() -> Verdict? {
    has(.observed) ? nil : cancel(isAnnounced: false)
  }

  /// Cancels it.
  ///
  /// - Parameter isAnnounced: Whether the caller announces the change, and then pushes on its own.
  /// - Returns: The actions for the caller.
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

  /// A subclass has announced that its own `isCancelled` is `true`. The caller pushes on its own.
  mutating func subclassWasCancelled() -> Verdict {
    if isFinished || isCancelled { return Verdict() }
    let wasUnheld = isUnheld
    insert(.cancelledBySubclass)
    // A value of `isReady` that was read while dependencies kept it waiting is outdated.
    forgetVerdict()
    if !wasUnheld { insert(.readinessHeld) }
    return Verdict(isNews: true, becameReady: !wasUnheld)
  }

  /// An unfinished dependency was added. It counts only while it can delay the start.
  /// - Returns: Whether it was counted, and the actions for that.
  mutating func dependencyWasAdded() -> (isCounted: Bool, mustPush: Bool) {
    guard isPending, !isCancelled else { return (false, false) }
    let (counted, isTooMany) = rawValue.addingReportingOverflow(Self.oneUnmet)
    if isTooMany { Self.refuseDependency() }
    rawValue = counted
    insert(.hasDependencies)
    forgetVerdict()
    return (true, claimPush())
  }

  /// This is not a precondition, because a release build does not print the message of one.
  @inline(never)
  private static func refuseDependency() -> Never {
    fatalError(
      "Operations: an operation can wait for at most 16,777,215 dependencies at the same time")
  }

  /// Handles a finished dependency like ``dependencyWasMet(isAnnounced:)``, without a reference to
  /// the operation. Returns `nil`, with nothing changed, if a reference is necessary: the operation
  /// is not in a queue that retains it, or it has observers.
  ///
  /// An operation that must be pushed stays in its queue until then, so it needs no reference.
  mutating func dependencyWasMetInQueue() -> Verdict? {
    guard has(.enqueued), !has(.retired), !has(.observed) else { return nil }
    return dependencyWasMet()
  }

  /// A counted dependency has finished, or was removed.
  ///
  /// - Parameter isAnnounced: Whether the caller announces the changes even without observers.
  /// - Returns: The actions for the caller.
  mutating func dependencyWasMet(isAnnounced: Bool = false) -> Verdict {
    precondition(unmetDependencyCount > 0, "The count of unmet dependencies would be negative")
    let wasUnheld = isUnheld
    rawValue -= Self.oneUnmet
    guard unmetDependencyCount == 0 else { return Verdict(isNews: true) }
    forgetVerdict()
    // If the readiness is held back already, the thread that did so announces it and pushes.
    let isHeldByAnother = has(.readinessHeld)
    let mustHold = !wasUnheld && !isHeldByAnother && (isAnnounced || has(.observed))
    if mustHold { insert(.readinessHeld) }
    let mustPush = isPending && !mustHold && !isHeldByAnother && claimPush()
    return Verdict(
      isNews: true, becameReady: mustHold, mustPush: mustPush,
      asksReadiness: !wasUnheld)
  }

  /// Makes the readiness visible, if it is still ready.
  ///
  /// Threads that have read `isReady` meanwhile got `false` only because of the announcement.
  mutating func releaseReadiness() {
    remove(.readinessHeld)
    forgetVerdict()
  }

  /// The overridable `isReady` was read for `reading`. A value of an older reading is dropped.
  ///
  /// - Returns: Whether the value counts, and whether the queue must read the state again.
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

  /// Drops the last value of `isReady`, and a value that a thread is about to store, because the
  /// dependencies have changed since. Otherwise, a `false` that was read just before the last
  /// dependency finished would block the operation forever.
  private mutating func forgetVerdict() {
    remove(.selfVerdict)
    _ = beginReading()
  }

  /// Begins a reading of `isReady` because a subclass has announced a change.
  mutating func beginReading() -> UInt64 {
    let next = (rawValue &+ Self.oneReading) & Self.readingMask
    rawValue = rawValue & ~Self.readingMask | next
    return reading
  }

  /// Begins the first reading of `isReady` after the last dependency has finished.
  ///
  /// - Returns: The reading; `nil` if the operation has started, or if its queue has chosen it since then.
  ///   The queue has read `isReady` in that case, and may have requested exclusions.
  mutating func beginFirstReading() -> UInt64? {
    guard isPending, !has(.dispatched), !has(.selfNotReady) else { return nil }
    return beginReading()
  }

  /// It has exclusions from now on. Returns `false` if its queue has already requested them.
  mutating func excludeOthers() -> Bool {
    guard isPending, !has(.dispatched) else { return false }
    insert(.excludesOthers)
    return true
  }

  /// It should request its exclusions again. Returns whether the queue must read the state again.
  ///
  /// A `false` that a thread is about to store is dropped, because it is outdated.
  mutating func exclusionHasEnded() -> Bool {
    forgetVerdict()
    // A subclass may be ready although dependencies are unmet. Its `isReady` is evaluated before
    // the start.
    if !isUnheld { insert(.selfReady) }
    return isPending && !has(.dispatched) && claimPush()
  }

  /// Sets the priority.
  ///
  /// - Returns: Whether it has changed, and whether the queue must read the state again.
  mutating func setPriority(_ index: Int) -> (changed: Bool, mustPush: Bool) {
    if index == priorityIndex { return (false, false) }
    priorityIndex = index
    return (true, isPending && !has(.dispatched) && claimPush())
  }

  /// Sets a flag that requires an action at the finish. Returns `false` if it is too late.
  mutating func promise(_ flag: Flags) -> Bool {
    if isFinished { return false }
    insert(flag)
    return true
  }
}
