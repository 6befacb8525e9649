// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The events that change the status of an operation. Each event changes the status and returns the
/// actions for its caller.
extension OperationStatus {
  /// The actions that the caller must carry out after an event that may have made the operation
  /// ready.
  struct Verdict: Equatable {
    /// Whether the event has changed the status of the operation.
    var isNews = false
    /// Whether the operation became ready, but `isReady` must stay `false` until the change is
    /// announced. The caller must announce the change before and after it, call
    /// `releaseReadiness()` between the two announcements, and push the operation only after that.
    var becameReady = false
    /// Whether the caller must announce `isReady` although it was `true` before.
    var announcesReadiness = false
    /// Whether the caller must push the operation into its queue's inbox.
    var mustPush = false
    /// Whether this event has finished the last dependency, so that an overridden `isReady` must be
    /// evaluated.
    var asksReadiness = false
  }

  enum StartVerdict: Equatable {
    /// The caller must run `main()`.
    case run
    /// The operation was cancelled. The caller must finish it and handle the consequences.
    case finishWithoutRunning
    /// The operation has already finished. The caller must do nothing.
    case nothing
    case refuse(OperationMisuse.Kind)
  }

  /// Records that the operation is in a queue, and that the caller is about to push it into the
  /// queue's inbox. Returns `false` if the operation is or was in a queue, or was started.
  mutating func enqueue() -> Bool {
    guard !has(.enqueued), isPending else { return false }
    insert([.enqueued, .inInbox])
    return true
  }

  /// Reverts ``enqueue()`` after the operation's batch was refused. The operation was not pushed, and no
  /// other thread pins it.
  ///
  /// - Returns: `false` if the operation has finished and is not retired, because the finishing thread uses
  ///   the queue. In that case the status is unchanged.
  mutating func takeBackEnqueue() -> Bool {
    if isFinished, !has(.retired) { return false }
    remove([.enqueued, .inInbox, .pinned])
    return true
  }

  /// Handles that the queue takes the operation out of its inbox. Returns whether the operation's
  /// name, priority or dependencies have changed, so that a collector must read them.
  mutating func leaveInbox() -> Bool {
    defer { remove([.inInbox, .descriptionChanged]) }
    return has(.descriptionChanged)
  }

  /// Pins the operation: the queue does not release the operation until it is unpinned. Returns
  /// `false` if another thread has pinned the operation.
  mutating func pin() -> Bool {
    if has(.pinned) { return false }
    insert(.pinned)
    return true
  }

  /// Pins the operation if it is still in its queue's inbox. Returns `false` if the operation was not pinned.
  mutating func pinInInbox() -> Bool { has(.inInbox) && !has(.retired) && pin() }

  /// Unpins the operation. Returns whether the caller must push the operation, so that the queue
  /// checks again whether to release it.
  mutating func unpin() -> Bool {
    remove(.pinned)
    if !has(.enqueued) || has(.inInbox) { return false }
    insert(.inInbox)
    return true
  }

  /// Whether the queue must not release the operation yet, although the operation has left the queue.
  var isHeldInQueue: Bool { has(.inInbox) || has(.pinned) }

  /// Records for a collector that the operation's name, priority or dependencies have changed.
  ///
  /// - Returns: Whether the caller must push the operation.
  mutating func descriptionDidChange() -> Bool {
    insert(.descriptionChanged)
    return claimPush()
  }

  /// Handles that the queue chooses the operation to be started.
  ///
  /// - Parameter startsAtOnce: Whether the operation's class requires no check before the start. In that case
  ///   this call starts the operation, unless the operation is observed or was cancelled.
  /// - Returns: `false` if the operation may no longer be started.
  mutating func dispatch(startsAtOnce: Bool = false) -> Bool {
    guard isEligible, isPending else { return false }
    insert(.dispatched)
    let asksFirst: Flags = [.cancelled, .observed, .excludesOthers]
    if startsAtOnce, rawValue & asksFirst.rawValue == 0 { insert([.startClaimed, .executing]) }
    return true
  }

  /// Handles that the queue chooses a barrier that is due. Dependencies, which a test can add, do not delay it.
  mutating func dispatchBarrier(startsAtOnce: Bool) {
    if !dispatch(startsAtOnce: startsAtOnce) { insert(.dispatched) }
  }

  /// Handles that the queue reverts its choice, because the subclass's `isReady` was `false`.
  mutating func undispatch() { remove(.dispatched) }

  /// Claims the operation for the base class's `start()`, and returns the action for the caller.
  /// The caller changes the status later by ``noteExecuting()`` or ``finish()``, between the two
  /// announcements of the change.
  ///
  /// - Parameters:
  ///   - isReady: The value of the overridable `isReady`.
  ///   - isByHand: Whether the program has certainly made the call. If it is `false`, a call after
  ///     the queue has chosen the operation counts as the call of a worker.
  /// - Returns: The action for the caller.
  mutating func claimStart(isReady: Bool, isByHand: Bool = false) -> StartVerdict {
    if isFinished { return .nothing }
    // A subclass may announce that the operation executes before it calls `super.start()`.
    if isExecuting, has(.startClaimed) { return .refuse(.receiverAlreadyExecuting) }
    if has(.startClaimed) { return .refuse(.simultaneousStart) }
    if has(.enqueued), isByHand || !has(.dispatched) {
      return .refuse(.startOfEnqueuedOperation)
    }
    guard isCancelled || isReady || has(.dispatched) else { return .refuse(.receiverNotReady) }
    insert(.startClaimed)
    // If a subclass has its own cancelled flag, its `main()` runs even if that flag is set, so that
    // `main()` can clean up and finish the operation.
    return has(.cancelled) ? .finishWithoutRunning : .run
  }

  /// Claims and starts an operation without observers in one step, for a worker.
  ///
  /// - Returns: `nil` if the operation is observed. In that case the status is unchanged.
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

  /// Records that the operation executes, because the base class or a subclass has announced it. The
  /// announcement of a subclass does not claim the base class's `start()`.
  ///
  /// - Returns: Whether the operation executes; `false` if it has finished.
  @discardableResult
  mutating func noteExecuting() -> Bool {
    if isFinished { return false }
    insert(.executing)
    return true
  }

  /// Finishes the operation, for the base class or a subclass. Returns `true` for the first call.
  mutating func finish() -> Bool {
    if isFinished { return false }
    insert(.finished)
    return true
  }

  /// Finishes the operation if it has no observers. Returns `nil` if it is observed.
  mutating func finishUnobserved() -> Bool? { has(.observed) ? nil : finish() }

  /// Whether the finish requires no notifications except those to the queue and to waiting threads.
  var finishesQuietly: Bool {
    rawValue & Flags.beforeRetirement.rawValue == 0
  }

  /// Retires the operation (marks that it leaves its queue) after all consequences of the finish
  /// were handled. If no notification is necessary, this call also finishes the operation.
  ///
  /// - Returns: `false` if the operation has not finished and a notification is necessary.
  mutating func retire() -> Bool {
    guard isFinished || finishesQuietly else { return false }
    insert([.finished, .retired])
    return true
  }

  /// Whether threads and tasks that wait for the operation may continue: the operation is retired,
  /// and the queue's observers were notified of its removal.
  var allowsWaitersToContinue: Bool { has(.retired) && !has(.removalAnnounced) }

  /// Adds a waiter. Returns `false` if waiters may continue, so that no waiter must be added.
  mutating func addWaiter() -> Bool {
    if allowsWaitersToContinue { return false }
    insert(.hasWaiters)
    return true
  }

  /// Whether waiters must be woken or a completion block must run after the operation was retired.
  var hasAftermath: Bool { rawValue & Flags.afterRetirement.rawValue != 0 }

  /// Claims the right to announce the changes by the base class's `cancel()`. Returns `false` if
  /// there is no change to announce, or if another thread announces it.
  mutating func claimCancel() -> Bool {
    if isFinished || has(.cancelled) || has(.cancelClaimed) { return false }
    insert(.cancelClaimed)
    return true
  }

  /// Cancels the operation like ``cancel(isAnnounced:)`` if it has no observers. Returns `nil` if it is
  /// observed.
  mutating func cancelUnobserved() -> Verdict? {
    has(.observed) ? nil : cancel(isAnnounced: false)
  }

  /// Cancels the operation.
  ///
  /// - Parameter isAnnounced: Whether the caller announces the change. In that case, the caller
  ///   marks after the announcement that it will push the operation into the queue's inbox, and
  ///   this method does not.
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

  /// Handles that a subclass has announced that its own `isCancelled` is `true`. This method does
  /// not claim the push of the operation, so the caller must do so.
  mutating func subclassWasCancelled() -> Verdict {
    if isFinished || isCancelled { return Verdict() }
    let wasUnheld = isUnheld
    insert(.cancelledBySubclass)
    // The last value that was read from `isReady` is outdated, because it was read while the
    // operation still waited for dependencies.
    forgetVerdict()
    if !wasUnheld { insert(.readinessHeld) }
    return Verdict(isNews: true, becameReady: !wasUnheld)
  }

  /// Handles that an unfinished dependency was added. The dependency is counted only if it can
  /// delay the start.
  ///
  /// - Returns: Whether the dependency was counted, and whether the caller must push the operation.
  mutating func dependencyWasAdded() -> (isCounted: Bool, mustPush: Bool) {
    guard isPending, !isCancelled else { return (false, false) }
    countUnmet()
    insert(.hasDependencies)
    forgetVerdict()
    return (true, claimPush())
  }

  /// Ends the process with a message, because the operation has too many dependencies.
  /// `precondition` is not used, because a release build does not print its message.
  @inline(never)
  static func refuseDependency() -> Never {
    fatalError(
      "Operations: an operation can wait for at most 16,777,215 dependencies at the same time")
  }

  /// Handles a finished dependency like ``dependencyWasMet(isAnnounced:)``, without a reference to
  /// the operation. If a reference is necessary, because no queue retains the operation or because
  /// it has observers, the method changes nothing and returns `nil`.
  ///
  /// The caller needs no reference to push the operation, because the queue retains the operation
  /// until the push.
  mutating func dependencyWasMetInQueue() -> Verdict? {
    guard has(.enqueued), !has(.retired), !has(.observed) else { return nil }
    return dependencyWasMet()
  }

  /// Handles that a counted dependency has finished or was removed.
  ///
  /// - Parameter isAnnounced: Whether the caller announces the changes even without observers.
  /// - Returns: The actions for the caller.
  mutating func dependencyWasMet(isAnnounced: Bool = false) -> Verdict {
    let wasUnheld = isUnheld
    guard countMet() else { return Verdict(isNews: true) }
    forgetVerdict()
    // If another thread already keeps `isReady` at `false`, that thread announces the change to
    // `true` and pushes the operation.
    let isHeldByAnother = has(.readinessHeld)
    let mustHold = !wasUnheld && !isHeldByAnother && (isAnnounced || has(.observed))
    if mustHold { insert(.readinessHeld) }
    let mustPush = isPending && !mustHold && !isHeldByAnother && claimPush()
    return Verdict(
      isNews: true, becameReady: mustHold, mustPush: mustPush,
      asksReadiness: !wasUnheld)
  }

  /// Sets `isReady` to `true` between the two announcements of this change, if the operation is
  /// still ready.
  ///
  /// Values of `isReady` that were read before this call are dropped. They may have been `false`
  /// only because the change was not announced yet.
  mutating func releaseReadiness() {
    remove(.readinessHeld)
    forgetVerdict()
  }

  /// Stores a value of the overridable `isReady`. The value is dropped if a newer reading has
  /// begun.
  ///
  /// - Parameters:
  ///   - isReadyNow: The value that was read.
  ///   - reading: The serial number of the reading that returned the value.
  /// - Returns: Whether the value was stored, and whether the queue must read the state again.
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
  mutating func forgetVerdict() {
    remove(.selfVerdict)
    _ = beginReading()
  }

  /// Begins a reading of `isReady` because a subclass has announced a change. Returns the serial
  /// number of the reading.
  mutating func beginReading() -> UInt64 {
    let next = (rawValue &+ Self.oneReading) & Self.readingMask
    rawValue = rawValue & ~Self.readingMask | next
    return reading
  }

  /// Begins the first reading of `isReady` after the last dependency has finished.
  ///
  /// - Returns: The serial number of the reading; `nil` if the operation has started, or if its
  ///   queue has chosen it since the last dependency finished. In that case, the queue has read
  ///   `isReady`, and may have requested the operation's exclusions.
  mutating func beginFirstReading() -> UInt64? {
    guard isPending, !has(.dispatched), !has(.selfNotReady) else { return nil }
    return beginReading()
  }

  /// Records that the operation has exclusions. Returns `false` if its queue has already requested them.
  mutating func excludeOthers() -> Bool {
    guard isPending, !has(.dispatched) else { return false }
    insert(.excludesOthers)
    return true
  }

  /// Changes the status so that the operation requests its exclusions again. Returns whether the
  /// queue must read the operation's state again.
  ///
  /// Another thread may have read `false` from `isReady` and not stored it yet. This outdated value
  /// is then discarded.
  mutating func exclusionHasEnded() -> Bool {
    forgetVerdict()
    // An operation of a subclass may be ready although dependencies are unmet. Its `isReady` is evaluated
    // before the start.
    if !isUnheld { insert(.selfReady) }
    return isPending && !has(.dispatched) && claimPush()
  }

  /// Sets the priority.
  ///
  /// - Returns: Whether the caller must push the operation to its queue.
  mutating func setPriority(_ index: Int) -> Bool {
    if index == priorityIndex { return false }
    priorityIndex = index
    return isPending && !has(.dispatched) && claimPush()
  }

  /// Sets a flag that requires an action when the operation finishes. Returns `false` if the operation has
  /// already finished.
  mutating func promise(_ flag: Flags) -> Bool {
    if isFinished { return false }
    insert(flag)
    return true
  }
}
