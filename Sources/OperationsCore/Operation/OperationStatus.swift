// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The phase, the flags and the number of unmet dependencies of one operation in one word.
///
/// A status is a value. Each event is a method that changes the value and returns the actions for
/// its caller. `Operation` applies an event with one compare-and-swap. So if two threads apply the
/// same event, exactly one of them gets the actions. The number of unmet dependencies is in the
/// same word as the cancelled flag, because readiness depends on both.
struct OperationStatus: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  /// The bits of the status. Bits 0–28 contain the flags and the priority. Bits 29–39 contain the
  /// serial number of the last reading of `isReady`. Bits 40–63 contain the number of unmet
  /// dependencies, at most 16 million.
  var rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Creates the status of a new operation of normal priority.
  init() {
    rawValue = 0
    priorityIndex = OperationStatus.normalPriorityIndex
  }

  /// The status of a new operation that is added to a queue before any other thread sees the
  /// operation.
  static let enqueuedFromTheStart = {
    var status = OperationStatus()
    status.insert([.enqueued, .inInbox])
    return status
  }()

  static let normalPriorityIndex = 2

  /// The flags of an operation. Each flag is set once and never cleared, unless its comment says
  /// otherwise.
  struct Flags: OptionSet {
    let rawValue: UInt64

    /// `main()` runs, or a subclass has announced that the operation executes.
    static let executing = Flags(rawValue: 1 << 0)
    /// The operation has finished. This flag takes precedence over `executing`.
    static let finished = Flags(rawValue: 1 << 1)
    /// The base class's `cancel()` was called before the operation finished.
    static let cancelled = Flags(rawValue: 1 << 2)
    /// The operation was added to a queue. This flag is cleared only if a whole batch is refused.
    static let enqueued = Flags(rawValue: 1 << 3)
    /// The operation is in its queue's inbox, or the thread that set this flag is about to push it.
    /// The flag is cleared when the queue takes the operation out of the inbox. While it is set,
    /// the queue does not release the operation.
    static let inInbox = Flags(rawValue: 1 << 4)
    /// The operation's queue has chosen it to be started.
    static let dispatched = Flags(rawValue: 1 << 5)
    /// A thread has entered the base class's `start()`, which admits only one thread.
    static let startClaimed = Flags(rawValue: 1 << 6)
    /// All consequences of the finish were handled, and waiting threads may continue.
    static let retired = Flags(rawValue: 1 << 7)
    /// A thread or a task may wait for the operation, until the flag `retired` is set.
    static let hasWaiters = Flags(rawValue: 1 << 8)
    /// The thread that finishes the operation must notify dependents.
    static let hasDependents = Flags(rawValue: 1 << 9)
    /// The thread that finishes the operation may have to run a completion block.
    static let hasCompletion = Flags(rawValue: 1 << 10)
    /// The subclass's own `isReady` was read and was `false`. This flag is cleared when `isReady`
    /// must be read again.
    static let selfNotReady = Flags(rawValue: 1 << 11)
    /// The subclass's own `isReady` was read and was `true` although dependencies are unmet. This
    /// flag is cleared when `isReady` must be read again.
    static let selfReady = Flags(rawValue: 1 << 12)

    /// The name, the priority or the dependencies of the operation have changed, and a collector
    /// must read them. This flag is cleared when the queue reads its inbox.
    static let descriptionChanged = Flags(rawValue: 1 << 13)

    /// The operation has or had observers, so changes are announced before and after they are made.
    static let observed = Flags(rawValue: 1 << 14)
    /// A thread is or was in the `cancel()` of the operation, and announces the changes that it
    /// makes.
    static let cancelClaimed = Flags(rawValue: 1 << 15)
    /// The operation is ready, but its readiness must not be visible yet. The thread that set this
    /// flag announces the readiness, and clears the flag between the two announcements.
    static let readinessHeld = Flags(rawValue: 1 << 19)

    /// A thread is about to make the queue read its inbox. The queue must not release the
    /// operation, because that could release the queue too. The thread that set this flag clears it
    /// and pushes the operation.
    static let pinned = Flags(rawValue: 1 << 20)
    /// The operation releases its dependencies when it finishes. This flag is cleared if
    /// `releasesDependenciesWhenFinished` is set to `false`.
    static let releasesDependenciesWhenFinished = Flags(rawValue: 1 << 21)
    /// Dependencies are listed, were listed, or are about to be listed. This flag is cleared when
    /// the operation forgets its dependencies.
    static let hasDependencies = Flags(rawValue: 1 << 22)
    /// The thread that finishes the operation must carry out actions that most operations do not
    /// need; see `performFinishDuties`.
    static let hasFinishDuties = Flags(rawValue: 1 << 23)
    /// The operation has exclusions, and requests them before it is started. This flag is set
    /// before the request.
    static let excludesOthers = Flags(rawValue: 1 << 24)
    /// The operation is a barrier of a queue, which is neither counted nor listed. This flag is set
    /// before any other thread sees the operation.
    static let barrier = Flags(rawValue: 1 << 25)
    /// `main()` has returned, or the subclass has announced its finish before. From then on, the
    /// overridable `isFinished` is read as if the base class had finished the operation.
    static let asksWhetherFinished = Flags(rawValue: 1 << 26)
    /// A subclass has announced that its own `isCancelled` is `true`, so the operation does not
    /// wait for dependencies. The base class's handling of a cancelled operation depends only on
    /// `cancelled`.
    static let cancelledBySubclass = Flags(rawValue: 1 << 27)
    /// The queue announces to its observers that it has removed the operation. The thread that set
    /// this flag before the removal clears it after the announcement. Until then, threads and tasks
    /// that wait for the operation keep waiting.
    static let removalAnnounced = Flags(rawValue: 1 << 28)

    static let selfVerdict: Flags = [.selfNotReady, .selfReady]
    static let begun: Flags = [.startClaimed, .executing, .finished]
    static let beforeRetirement: Flags = [
      .observed, .hasDependents, .releasesDependenciesWhenFinished, .hasFinishDuties,
    ]
    static let afterRetirement: Flags = [.hasWaiters, .hasCompletion]
  }

  private static let priorityShift: UInt64 = 16
  private static let priorityMask: UInt64 = 0b111 << priorityShift
  /// The position of the bits with the serial number of the last reading of `isReady`. The number
  /// is used to drop a value that is older than the stored one. The number wraps around, so a value
  /// would not be dropped if exactly 2,048 readings, or a multiple, began after its own.
  private static let readingShift: UInt64 = 29
  static let readingMask: UInt64 = 0x7ff << readingShift
  static let oneReading: UInt64 = 1 << readingShift
  private static let unmetShift: UInt64 = 40
  static let oneUnmet: UInt64 = 1 << unmetShift

  /// Returns whether all of the given flags are set in the status.
  func has(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }
  mutating func insert(_ flags: Flags) { rawValue |= flags.rawValue }
  mutating func remove(_ flags: Flags) { rawValue &= ~flags.rawValue }

  var unmetDependencyCount: Int { Int(rawValue >> Self.unmetShift) }

  /// Counts an unmet dependency or a delay.
  mutating func countUnmet() {
    let (counted, isTooMany) = rawValue.addingReportingOverflow(Self.oneUnmet)
    if isTooMany { Self.refuseDependency() }
    rawValue = counted
  }

  /// Counts off a met dependency, or a delay that has ended.
  ///
  /// - Returns: Whether none is left.
  mutating func countMet() -> Bool {
    precondition(unmetDependencyCount > 0, "The count of unmet dependencies would be negative")
    rawValue -= Self.oneUnmet
    return unmetDependencyCount == 0
  }

  /// The index of the operation's priority: 0 is the highest priority, 4 the lowest.
  var priorityIndex: Int {
    get { Int((rawValue & Self.priorityMask) >> Self.priorityShift) }
    set {
      rawValue = rawValue & ~Self.priorityMask | UInt64(newValue) << Self.priorityShift
    }
  }

  var isFinished: Bool { has(.finished) }
  var isExecuting: Bool { has(.executing) && !isFinished }

  /// Whether the operation was cancelled by the base class's `cancel()` or by a flag of its
  /// subclass.
  var isCancelled: Bool {
    rawValue & (Flags.cancelled.rawValue | Flags.cancelledBySubclass.rawValue) != 0
  }

  /// Whether the dependencies have finished or the operation was cancelled, so that it does not
  /// wait for dependencies.
  private var isFreeOfDependencies: Bool { unmetDependencyCount == 0 || isCancelled }

  /// Whether the operation has neither started nor finished.
  var isPending: Bool { rawValue & Flags.begun.rawValue == 0 }

  /// Whether the operation does not wait for dependencies. The value stays `true` after the start,
  /// and is `true` for a cancelled operation.
  var isUnheld: Bool { isFreeOfDependencies || !isPending }

  /// The value of `isReady` in the base class, without a subclass's override.
  var isReady: Bool { isUnheld && !has(.readinessHeld) }

  /// Whether the queue may start the operation, as far as known without evaluating the subclass's
  /// `isReady`.
  @inline(__always)
  var isEligible: Bool {
    !has(.readinessHeld)
      && (has(.cancelled) || has(.selfReady) || isFreeOfDependencies && !has(.selfNotReady))
  }

  /// Whether the dependencies are finished and only the subclass's own `isReady` keeps the
  /// operation waiting.
  ///
  /// The value is `false` for an operation with exclusions, because the status does not show
  /// whether it waits for them or for its own `isReady`.
  var isHeldUpByItself: Bool { isPutOff && !has(.excludesOthers) }

  /// Whether the operation has exclusions, and waits for them or for its own `isReady`.
  var isExcluded: Bool { isPutOff && has(.excludesOthers) }

  /// Whether the queue chose the operation, but could not start it because of its `isReady` or its
  /// exclusions.
  var isPutOff: Bool {
    isPending && !has(.cancelled) && isFreeOfDependencies && has(.selfNotReady)
  }

  /// Whether the operation is not in a queue, and its start was not announced.
  var isLeftAlone: Bool { isPending && !has(.enqueued) }

  /// The state of the operation: waiting, ready, executing or finished.
  var state: OperationState {
    if isFinished { return .finished }
    if isExecuting || has(.dispatched) { return .executing }
    return isEligible ? .ready : .waiting
  }

  /// The serial number of the last reading of `isReady`; see ``readinessWasRead(_:reading:)``.
  var reading: UInt64 { (rawValue & Self.readingMask) >> Self.readingShift }

  /// Claims the push of the operation into its queue's inbox. Returns `true` if the caller must
  /// push the operation, and `false` if no push is necessary or another thread pushes it.
  mutating func claimPush() -> Bool {
    guard has(.enqueued), !has(.inInbox), !has(.retired) else { return false }
    insert(.inInbox)
    return true
  }
}
