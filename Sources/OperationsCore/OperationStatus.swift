// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The phase, the flags and the number of unmet dependencies of one operation in one word.
///
/// A pure value: each event is a method that changes it and returns what its caller has to do.
/// `Operation` applies an event with one compare-and-swap, so that of two threads that bring the
/// same news exactly one is told to act on it. The count sits in the same word as the cancelled
/// flag because "became ready" is a fact about both.
struct OperationStatus: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  /// Bits 0–31: flags. Bits 32–63: unmet dependencies.
  var rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A new operation of normal priority.
  init() {
    rawValue = 0
    priorityIndex = OperationStatus.normalPriorityIndex
  }

  static let normalPriorityIndex = 2

  /// What the object has been through. Each flag is set once and never cleared, unless its line
  /// says otherwise.
  struct Flags: OptionSet {
    let rawValue: UInt64

    /// `main()` runs, or a subclass has said so.
    static let executing = Flags(rawValue: 1 << 0)
    /// Nothing will run any more. Excludes what `executing` says.
    static let finished = Flags(rawValue: 1 << 1)
    static let cancelled = Flags(rawValue: 1 << 2)
    /// Was added to a queue. Taken back only where a whole batch is refused.
    static let enqueued = Flags(rawValue: 1 << 3)
    /// Is in its queue's inbox, or about to be pushed there by whoever set this. Cleared when the
    /// queue takes it out. Keeps the queue from letting go of the operation.
    static let inInbox = Flags(rawValue: 1 << 4)
    /// Its queue has chosen it to be started.
    static let dispatched = Flags(rawValue: 1 << 5)
    /// A thread has entered the base `start()`, which lets one in.
    static let startClaimed = Flags(rawValue: 1 << 6)
    /// Everything that follows the finish has been done and waiters may go.
    static let retired = Flags(rawValue: 1 << 7)
    /// Somebody may sleep until `retired` is set.
    static let hasWaiters = Flags(rawValue: 1 << 8)
    /// The finish has dependents to tell.
    static let hasDependents = Flags(rawValue: 1 << 9)
    /// The finish may have a completion block to run.
    static let hasCompletion = Flags(rawValue: 1 << 10)
    /// The subclass's own `isReady` was read and is `false`. Cleared when it must be read again.
    static let selfNotReady = Flags(rawValue: 1 << 11)
    /// The subclass's own `isReady` was read and is `true` although dependencies are unmet.
    /// Cleared when it must be read again.
    static let selfReady = Flags(rawValue: 1 << 12)

    /// Name, priority or dependencies are news for a collector. Cleared in the inbox.
    static let descriptionChanged = Flags(rawValue: 1 << 13)

    /// Somebody observes it, or has: changes are announced before and after.
    static let observed = Flags(rawValue: 1 << 14)
    /// A thread is in `cancel()`, or was, and announces what that changes.
    static let cancelClaimed = Flags(rawValue: 1 << 15)
    /// Nothing holds it up any more, but nobody may see that yet: who set this announces it, and
    /// clears this in between.
    static let readinessHeld = Flags(rawValue: 1 << 19)

    /// A thread is about to have the inbox read: the queue must not let go of the operation, and with
    /// it perhaps of itself. Who set this clears it and pushes.
    static let pinned = Flags(rawValue: 1 << 28)
    /// It lets go of its dependencies when it finishes. Cleared where that is taken back.
    static let forgetsDependencies = Flags(rawValue: 1 << 29)

    static let selfVerdict: Flags = [.selfNotReady, .selfReady]
    static let begun: Flags = [.startClaimed, .executing, .finished]
  }

  private static let priorityShift: UInt64 = 16
  private static let priorityMask: UInt64 = 0b111 << priorityShift
  /// Counts re-readings of `isReady`, so that an older answer never replaces a newer one.
  private static let readingShift: UInt64 = 20
  private static let readingMask: UInt64 = 0xff << readingShift
  private static let oneUnmet: UInt64 = 1 << 32

  /// Whether the flag is set, or all of the flags are.
  func has(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }
  mutating func insert(_ flags: Flags) { rawValue |= flags.rawValue }
  mutating func remove(_ flags: Flags) { rawValue &= ~flags.rawValue }

  var unmetDependencyCount: Int { Int(rawValue >> 32) }

  /// 0 is the highest priority, 4 the lowest.
  var priorityIndex: Int {
    get { Int((rawValue & Self.priorityMask) >> Self.priorityShift) }
    set {
      rawValue = rawValue & ~Self.priorityMask | UInt64(newValue) << Self.priorityShift
    }
  }

  var isFinished: Bool { has(.finished) }
  var isExecuting: Bool { has(.executing) && !isFinished }
  var isCancelled: Bool { has(.cancelled) }

  /// Whether nothing has started or finished yet.
  var isPending: Bool { rawValue & Flags.begun.rawValue == 0 }

  /// Whether nothing holds it up: stays `true` after the start, and a cancelled operation waits for
  /// nothing.
  private var isUnheld: Bool { unmetDependencyCount == 0 || isCancelled || !isPending }

  /// What the base class answers.
  var isReady: Bool { isUnheld && !has(.readinessHeld) }

  /// Whether the queue may start it, as far as is known without asking the subclass.
  var isEligible: Bool {
    !has(.readinessHeld)
      && (isCancelled || has(.selfReady) || unmetDependencyCount == 0 && !has(.selfNotReady))
  }

  /// What `Operation.state` shows.
  var state: Operation.State {
    if isFinished { return .finished }
    if isExecuting || has(.dispatched) { return .executing }
    return isEligible ? .ready : .waiting
  }

  /// The reading of `isReady` that is current; see ``readinessWasRead(_:reading:)``.
  var reading: UInt64 { (rawValue & Self.readingMask) >> Self.readingShift }

  /// Claims the right and the duty to push the operation into its queue's inbox.
  mutating func claimPush() -> Bool {
    guard has(.enqueued), !has(.inInbox), !has(.retired) else { return false }
    insert(.inInbox)
    return true
  }
}

// MARK: - Events

extension OperationStatus {
  /// What an event asks for that may have made the operation ready.
  struct Verdict: Equatable {
    /// The event took effect.
    var isNews = false
    /// It is held back that the operation is ready: the caller must announce that, and release it
    /// in between. Nothing is to be pushed before.
    var becameReady = false
    /// The caller must push the operation into its queue's inbox.
    var mustPush = false
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

  /// The batch that it was part of was refused; it was not pushed. Nobody pins it.
  mutating func takeBackEnqueue() { remove([.enqueued, .inInbox, .pinned]) }

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

  /// The queue chooses it to be started. `false` where it is not eligible any more.
  mutating func dispatch() -> Bool {
    guard isEligible, isPending else { return false }
    insert(.dispatched)
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
    return isCancelled ? .finishWithoutRunning : .run
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

  /// Everything that follows the finish is done.
  mutating func retire() { insert(.retired) }

  /// Base `cancel()` claims the announcement of what it is about to change. `false` where there is
  /// nothing to announce, or another thread does.
  mutating func claimCancel() -> Bool {
    if isFinished || isCancelled || has(.cancelClaimed) { return false }
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
    if isFinished || isCancelled { return Verdict() }
    let wasUnheld = isUnheld
    insert(.cancelled)
    let mustHold = !wasUnheld && isAnnounced
    if mustHold { insert(.readinessHeld) }
    return Verdict(
      isNews: true, becameReady: mustHold, mustPush: !isAnnounced && claimPush())
  }

  /// A dependency that has not finished was added. It counts only while it can hold up the start.
  /// - Returns: Whether it was counted, and what that asks for.
  mutating func dependencyWasAdded() -> (isCounted: Bool, mustPush: Bool) {
    guard isPending, !isCancelled else { return (false, false) }
    rawValue += Self.oneUnmet
    forgetVerdict()
    return (true, claimPush())
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
    return Verdict(isNews: true, becameReady: mustHold, mustPush: mustPush)
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
    } else if unmetDependencyCount > 0, !isCancelled {
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
    let next = (reading + 1) & 0xff
    rawValue = rawValue & ~Self.readingMask | next << Self.readingShift
    return next
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
