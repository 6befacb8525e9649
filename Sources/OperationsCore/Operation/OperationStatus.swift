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
  /// Bits 0–27: flags and the priority. Bits 28–39: readings of `isReady`. Bits 40–63: unmet
  /// dependencies, 16 million at most.
  var rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A new operation of normal priority.
  init() {
    rawValue = 0
    priorityIndex = OperationStatus.normalPriorityIndex
  }

  /// A new operation that is in a queue as soon as somebody sees it.
  static let enqueuedFromTheStart = {
    var status = OperationStatus()
    status.insert([.enqueued, .inInbox])
    return status
  }()

  static let normalPriorityIndex = 2

  /// What the object has been through. Each flag is set once and never cleared, unless its line
  /// says otherwise.
  struct Flags: OptionSet {
    let rawValue: UInt64

    /// `main()` runs, or a subclass has said so.
    static let executing = Flags(rawValue: 1 << 0)
    /// Nothing will run any more. Excludes what `executing` says.
    static let finished = Flags(rawValue: 1 << 1)
    /// `cancel()` of the base class was called in time.
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
    static let pinned = Flags(rawValue: 1 << 20)
    /// It lets go of its dependencies when it finishes. Cleared where that is taken back.
    static let forgetsDependencies = Flags(rawValue: 1 << 21)
    /// Dependencies are listed, or were, or are about to be. Cleared when they are forgotten.
    static let hasDependencies = Flags(rawValue: 1 << 22)
    /// The finish has something rare to do: see `performFinishDuties`.
    static let hasFinishDuties = Flags(rawValue: 1 << 23)
    /// It has exclusions, and asks for them before it is started. Set before that.
    static let excludesOthers = Flags(rawValue: 1 << 24)
    /// It is a queue's barrier: neither counted nor listed. Set before any other thread sees it.
    static let barrier = Flags(rawValue: 1 << 25)
    /// `main()` has returned, or the subclass has said before that it has finished: from now on the
    /// overridable `isFinished` is asked as if the base class had finished it.
    static let asksWhetherFinished = Flags(rawValue: 1 << 26)
    /// A subclass has announced that its own `isCancelled` is `true`: it waits for no dependency. What
    /// the base class does with a cancelled operation depends on `cancelled` alone.
    static let cancelledBySubclass = Flags(rawValue: 1 << 27)

    static let selfVerdict: Flags = [.selfNotReady, .selfReady]
    static let begun: Flags = [.startClaimed, .executing, .finished]
    static let beforeRetirement: Flags = [
      .observed, .hasDependents, .forgetsDependencies, .hasFinishDuties,
    ]
    static let afterRetirement: Flags = [.hasWaiters, .hasCompletion]
  }

  private static let priorityShift: UInt64 = 16
  private static let priorityMask: UInt64 = 0b111 << priorityShift
  /// Counts re-readings of `isReady`, so that an older answer does not replace a newer one: it would
  /// have to be late by exactly 4,096 of them, or a multiple.
  private static let readingShift: UInt64 = 28
  static let readingMask: UInt64 = 0xfff << readingShift
  static let oneReading: UInt64 = 1 << readingShift
  private static let unmetShift: UInt64 = 40
  static let oneUnmet: UInt64 = 1 << unmetShift

  /// Whether the flag is set, or all of the flags are.
  func has(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }
  mutating func insert(_ flags: Flags) { rawValue |= flags.rawValue }
  mutating func remove(_ flags: Flags) { rawValue &= ~flags.rawValue }

  var unmetDependencyCount: Int { Int(rawValue >> Self.unmetShift) }

  /// 0 is the highest priority, 4 the lowest.
  var priorityIndex: Int {
    get { Int((rawValue & Self.priorityMask) >> Self.priorityShift) }
    set {
      rawValue = rawValue & ~Self.priorityMask | UInt64(newValue) << Self.priorityShift
    }
  }

  var isFinished: Bool { has(.finished) }
  var isExecuting: Bool { has(.executing) && !isFinished }

  /// Whether it was cancelled: by the base class's `cancel()`, or by a flag of the subclass's own.
  var isCancelled: Bool {
    rawValue & (Flags.cancelled.rawValue | Flags.cancelledBySubclass.rawValue) != 0
  }

  /// Whether dependencies do not hold it up: they have finished, or it was cancelled.
  private var isFreeOfDependencies: Bool { unmetDependencyCount == 0 || isCancelled }

  /// Whether nothing has started or finished yet.
  var isPending: Bool { rawValue & Flags.begun.rawValue == 0 }

  /// Whether nothing holds it up: stays `true` after the start, and a cancelled operation waits for
  /// nothing.
  var isUnheld: Bool { isFreeOfDependencies || !isPending }

  /// What the base class answers.
  var isReady: Bool { isUnheld && !has(.readinessHeld) }

  /// Whether the queue may start it, as far as is known without asking the subclass.
  @inline(__always)
  var isEligible: Bool {
    !has(.readinessHeld)
      && (has(.cancelled) || has(.selfReady) || isFreeOfDependencies && !has(.selfNotReady))
  }

  /// Whether dependencies are met and nothing but the subclass's own `isReady` holds it up.
  ///
  /// Not known of one that excludes others: it is put off in the same way while it waits for its turn.
  var isHeldUpByItself: Bool { isPutOff && !has(.excludesOthers) }

  /// Whether it waits for its turn with what it excludes others from, or for its own `isReady`.
  var isExcluded: Bool { isPutOff && has(.excludesOthers) }

  /// Whether it was chosen to be started, and its `isReady` or what excludes it said no.
  var isPutOff: Bool {
    isPending && !has(.cancelled) && isFreeOfDependencies && has(.selfNotReady)
  }

  /// Whether it is in no queue and nobody has started it, as far as it has said.
  var isLeftAlone: Bool { isPending && !has(.enqueued) }

  /// What `Operation.state` shows.
  var state: OperationState {
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
