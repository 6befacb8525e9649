// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The limit of a queue's starts, with its clock. It is notified when the queue may start again.
///
/// The limiter and the core of its queue retain each other, until the queue gets another limit or is
/// deallocated.
final class StartLimiter: AlarmTarget {
  let limit: OperationStartLimit
  let time: AlarmTime
  private let core: QueueCore

  init(_ limit: OperationStartLimit, of core: QueueCore) {
    self.limit = limit
    time = Alarms.time(of: limit.clock)
    self.core = core
  }

  func alarmRings() {
    guard let queue = QueueRegistry.queue(at: .passUnretained(core)) else { return }
    queue.core.startsHaveExpired(of: self)
  }
}

extension QueueCore {
  /// Sets the limit of the queue's starts.
  func setStartLimit(_ limit: OperationStartLimit?) {
    if limit == scheduler.withLock({ $0.limiter })?.limit { return }
    let limiter = limit.map { StartLimiter($0, of: self) }
    let old = withScheduler { scheduler, _ in
      scheduler.monitor.queueDidChange()
      return scheduler.setLimiter(limiter)
    }
    if let old { Alarms.remove(old) }
  }

  /// Ends the limit and its alarm, because the queue is deallocated.
  func endStartLimit() {
    if let limiter = scheduler.withLock({ $0.limiter.take() }) { Alarms.remove(limiter) }
  }

  /// Handles that starts have become one period old. The queue may start further operations.
  fileprivate func startsHaveExpired(of limiter: StartLimiter) {
    let now = limiter.time.now
    let next = withScheduler { scheduler, _ in
      // A monitor reads that the limit no longer explains why the queue starts nothing.
      scheduler.monitor.queueDidChange()
      return scheduler.startsHaveExpired(of: limiter, at: now)
    }
    if let next { setAlarm(of: limiter, at: next) }
  }

  /// Sets the alarm of a limiter, which may have been replaced since the critical section.
  private func setAlarm(of limiter: StartLimiter, at time: Duration) {
    Alarms.set(limiter, at: AlarmMoment(time, on: limiter.time))
    // The thread that has replaced the limiter may have removed its alarm before this thread has set it.
    let isPresent = scheduler.withLock { $0.limiter === limiter }
    if !isPresent { Alarms.remove(limiter) }
  }

  /// Records that a thread is about to run an operation that counts as a start.
  ///
  /// The thread holds the operation, so no code of the user runs here except the clock.
  @inline(never)
  func recordStart() {
    guard let limiter = scheduler.withLock({ $0.limiter }) else { return }
    let now = limiter.time.now
    let (next, hasWork) = scheduler.withLock { scheduler -> (Duration?, Bool) in
      let next = scheduler.recordStart(of: limiter, at: now)
      return (next, scheduler.hasWork)
    }
    if let next { setAlarm(of: limiter, at: next) }
    if hasWork { wakeWorker() }
  }
}

extension QueueScheduler {
  /// Reasons why the queue does not start operations in the usual way.
  struct Restraints: OptionSet {
    let rawValue: UInt8
    /// The queue is suspended.
    static let suspended = Restraints(rawValue: 1 << 0)
    /// The number of starts in a period is limited.
    static let limited = Restraints(rawValue: 1 << 1)
    /// A test starts the operations by hand.
    static let stepped = Restraints(rawValue: 1 << 2)
  }

  /// Whether the queue has started as many operations as its limit allows.
  var isStartLimitReached: Bool { starts?.isReached == true }

  /// Replaces the limit of starts, and returns the old one.
  mutating func setLimiter(_ limiter: StartLimiter?) -> StartLimiter? {
    let old = self.limiter
    self.limiter = limiter
    starts = limiter.map { StartCounter(count: $0.limit.count, period: $0.limit.period) }
    if limiter == nil { restraints.remove(.limited) } else { restraints.insert(.limited) }
    return old
  }

  /// Records the start of a chosen operation.
  ///
  /// - Returns: The time at which the next start becomes possible, if the limit is reached.
  mutating func recordStart(of limiter: StartLimiter, at now: Duration) -> Duration? {
    guard self.limiter === limiter else { return nil }
    starts?.record(at: now)
    return isStartLimitReached ? starts?.nextEnd : nil
  }

  /// Handles that starts have become one period old.
  ///
  /// - Returns: The time at which the next start becomes possible, if the limit is still reached.
  mutating func startsHaveExpired(of limiter: StartLimiter, at now: Duration) -> Duration? {
    guard self.limiter === limiter else { return nil }
    starts?.expire(at: now)
    return isStartLimitReached ? starts?.nextEnd : nil
  }

  /// Handles that a chosen operation that counted as a start does not start.
  mutating func withdrawStart() { starts?.withdraw() }

  /// Whether a worker of the queue would find an operation to start, if the queue has restraints.
  @inline(never)
  func hasRestrainedStartable() -> Bool {
    guard hasFreeSlot else { return false }
    if isStartLimitReached { return hasUncountedStartable }
    return !ready.isEmpty || barriers.front == .due
  }

  /// The number of operations that may start now, if the starts are limited.
  func limited(_ startableCount: Int) -> Int {
    guard let starts else { return startableCount }
    return starts.isReached ? min(1, startableCount) : min(startableCount, starts.freeCount)
  }

  /// Whether a cancelled operation can be chosen. It is only retired, so it does not count as a start.
  private var hasUncountedStartable: Bool {
    if ready.hasCancelled { return true }
    guard ready.isEmpty, barriers.front == .due,
      let barrier = barriers.operations.first(where: { _ in true })
    else { return false }
    return barrier._withUnsafeGuaranteedRef { $0.status.load(ordering: .acquiring).isCancelled }
  }

  /// Chooses the next operation to start for a worker, if the queue has restraints.
  @inline(never)
  mutating func takeNextRestrained() -> StartableOperation? {
    restraints.contains(.stepped) ? nil : takeNextCounting()
  }

  /// Chooses the next operation to start, and counts it as a start unless it was cancelled.
  mutating func takeNextCounting() -> StartableOperation? {
    guard hasFreeSlot else { return nil }
    if isStartLimitReached, !hasUncountedStartable { return nil }
    guard let taken = takeFirst(startsAtOnce: false) else { return nil }
    if taken.countsAsStart { starts?.choose() }
    return taken
  }
}
