// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The phase, the flags and the number of unmet dependencies of one operation in one word.
///
/// A pure value: each event is a method that changes it and returns the actions for its caller.
/// `Operation` applies an event with one compare-and-swap, so that of two threads with the same
/// event exactly one gets the actions. The count is in the same word as the cancelled flag because
/// "became ready" depends on both.
struct OperationStatus: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  /// Bits 0–27: flags and the priority. Bits 28–39: readings of `isReady`. Bits 40–63: unmet
  /// dependencies, at most 16 million.
  var rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A new operation of normal priority.
  init() {
    rawValue = 0
    priorityIndex = OperationStatus.normalPriorityIndex
  }

  /// A new operation that is in a queue before any other thread sees it.
  static let enqueuedFromTheStart = {
    var status = OperationStatus()
    status.insert([.enqueued, .inInbox])
    return status
  }()

  static let normalPriorityIndex = 2

  /// The history of the object. Each flag is set once and never cleared, unless its comment says
  /// otherwise.
  struct Flags: OptionSet {
    let rawValue: UInt64

    /// `main()` runs, or a subclass has announced that it executes.
    static let executing = Flags(rawValue: 1 << 0)
    /// It has ended. Takes precedence over `executing`.
    static let finished = Flags(rawValue: 1 << 1)
    /// `cancel()` of the base class was called in time.
    static let cancelled = Flags(rawValue: 1 << 2)
    /// It was added to a queue. Cleared only if a whole batch is refused.
    static let enqueued = Flags(rawValue: 1 << 3)
    /// It is in its queue's inbox, or the thread that set this is about to push it. Cleared when
    /// the queue takes it out. Keeps the queue from releasing the operation.
    static let inInbox = Flags(rawValue: 1 << 4)
    /// Its queue has chosen it to be started.
    static let dispatched = Flags(rawValue: 1 << 5)
    /// A thread has entered the base `start()`, which admits only one.
    static let startClaimed = Flags(rawValue: 1 << 6)
    /// All consequences of the finish were handled, and waiters may continue.
    static let retired = Flags(rawValue: 1 << 7)
    /// A waiter may sleep until `retired` is set.
    static let hasWaiters = Flags(rawValue: 1 << 8)
    /// The finish must notify dependents.
    static let hasDependents = Flags(rawValue: 1 << 9)
    /// The finish may have to run a completion block.
    static let hasCompletion = Flags(rawValue: 1 << 10)
    /// The subclass's own `isReady` was read and was `false`. Cleared when it must be read again.
    static let selfNotReady = Flags(rawValue: 1 << 11)
    /// The subclass's own `isReady` was read and was `true` although dependencies are unmet.
    /// Cleared when it must be read again.
    static let selfReady = Flags(rawValue: 1 << 12)

    /// Name, priority or dependencies have changed for a collector. Cleared in the inbox.
    static let descriptionChanged = Flags(rawValue: 1 << 13)

    /// It has or had observers: changes are announced before and after.
    static let observed = Flags(rawValue: 1 << 14)
    /// A thread is or was in `cancel()`, and announces its changes.
    static let cancelClaimed = Flags(rawValue: 1 << 15)
    /// It is ready, but that must not be visible yet: the thread that set this announces it, and
    /// clears this between the two announcements.
    static let readinessHeld = Flags(rawValue: 1 << 19)

    /// A thread is about to make the queue read its inbox: the queue must not release the
    /// operation, and with it possibly itself. The thread that set this clears it and pushes.
    static let pinned = Flags(rawValue: 1 << 20)
    /// It releases its dependencies when it finishes. Cleared if that is reverted.
    static let forgetsDependencies = Flags(rawValue: 1 << 21)
    /// Dependencies are listed, were listed, or are about to be. Cleared when they are forgotten.
    static let hasDependencies = Flags(rawValue: 1 << 22)
    /// The finish has rare duties: see `performFinishDuties`.
    static let hasFinishDuties = Flags(rawValue: 1 << 23)
    /// It has exclusions, and requests them before it is started. Set before that.
    static let excludesOthers = Flags(rawValue: 1 << 24)
    /// It is a queue's barrier: neither counted nor listed. Set before any other thread sees it.
    static let barrier = Flags(rawValue: 1 << 25)
    /// `main()` has returned, or the subclass has announced its finish before. From now on the
    /// overridable `isFinished` is read as if the base class had finished it.
    static let asksWhetherFinished = Flags(rawValue: 1 << 26)
    /// A subclass has announced that its own `isCancelled` is `true`: it does not wait for
    /// dependencies. The base class's handling of a cancelled operation depends only on
    /// `cancelled`.
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
  /// Counts readings of `isReady`, so that an older value does not replace a newer one. A value
  /// would have to be late by exactly 4,096 readings, or a multiple.
  private static let readingShift: UInt64 = 28
  static let readingMask: UInt64 = 0xfff << readingShift
  static let oneReading: UInt64 = 1 << readingShift
  private static let unmetShift: UInt64 = 40
  static let oneUnmet: UInt64 = 1 << unmetShift

  /// Returns whether the flag is set, or all of the flags are.
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

  /// Whether dependencies do not keep it waiting: they have finished, or it was cancelled.
  private var isFreeOfDependencies: Bool { unmetDependencyCount == 0 || isCancelled }

  /// Whether it has neither started nor finished.
  var isPending: Bool { rawValue & Flags.begun.rawValue == 0 }

  /// Whether dependencies do not keep it waiting. Stays `true` after the start, and is `true` for a
  /// cancelled operation.
  var isUnheld: Bool { isFreeOfDependencies || !isPending }

  /// The base class's value of `isReady`.
  var isReady: Bool { isUnheld && !has(.readinessHeld) }

  /// Whether the queue may start it, as far as known without evaluating the subclass's `isReady`.
  @inline(__always)
  var isEligible: Bool {
    !has(.readinessHeld)
      && (has(.cancelled) || has(.selfReady) || isFreeOfDependencies && !has(.selfNotReady))
  }

  /// Whether its dependencies are finished and only the subclass's own `isReady` keeps it waiting.
  ///
  /// Unknown for an operation with exclusions, which is put off in the same way while it waits for
  /// them.
  var isHeldUpByItself: Bool { isPutOff && !has(.excludesOthers) }

  /// Whether it waits for its exclusions, or for its own `isReady`.
  var isExcluded: Bool { isPutOff && has(.excludesOthers) }

  /// Whether it was chosen to be started, and then refused by its `isReady` or its exclusions.
  var isPutOff: Bool {
    isPending && !has(.cancelled) && isFreeOfDependencies && has(.selfNotReady)
  }

  /// Whether it is not in a queue and was not started, as far as announced.
  var isLeftAlone: Bool { isPending && !has(.enqueued) }

  /// The value of `Operation.state`.
  var state: OperationState {
    if isFinished { return .finished }
    if isExecuting || has(.dispatched) { return .executing }
    return isEligible ? .ready : .waiting
  }

  /// The current reading of `isReady`; see ``readinessWasRead(_:reading:)``.
  var reading: UInt64 { (rawValue & Self.readingMask) >> Self.readingShift }

  /// Claims the right and the duty to push the operation into its queue's inbox.
  mutating func claimPush() -> Bool {
    guard has(.enqueued), !has(.inInbox), !has(.retired) else { return false }
    insert(.inInbox)
    return true
  }
}
