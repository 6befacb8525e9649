// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The delay of an operation is one more unmet condition, beside its unmet dependencies. So a delayed
/// operation is waiting, and its cancellation makes it ready.
extension Operation: AlarmTarget {
  /// Makes the operation wait for a delay, before it is added to a queue.
  ///
  /// - Returns: Whether the operation waits; `false` if it was added to a queue, has started, or was
  ///   cancelled. If it waits, the caller must call ``delayBegan(until:)`` after it was added.
  final func waitForDelay() -> Bool {
    let current = status.load(ordering: .acquiring)
    let announces =
      (isObserved || !isExactlyBlockOperation) && current.isReady && current.isPending
      && !current.isCancelled
    if announces { willChangeValue(forKey: "isReady") }
    let isCounted = countingUnmet { $0.delayWasAdded() }
    if announces { ownValueDidChange(forKey: "isReady") }
    return isCounted
  }

  /// Begins the delay of an operation that was added to a queue.
  ///
  /// An operation that no queue has accepted stops waiting for the delay.
  final func delayBegan(until moment: AlarmMoment) {
    guard status.load(ordering: .acquiring).has(.enqueued) else { return countOffDependency() }
    Alarms.set(self, at: moment)
    // The thread that finishes the operation removes the alarm if it sees the flag. If the operation has
    // finished before the flag was set, this thread removes the alarm.
    if !update({ $0.promise(.hasFinishDuties) }) { return endDelayOfFinished() }
    // A collector that comes later than this check sees the flag; see `describeDelay()`.
    if MonitorLevel.isOn, let reports = reportDelay(until: moment) { noteReports(reports) }
  }

  /// Stores the end of the delay for viewers, if it is a time on the monotonic clock. Returns the reports that
  /// contain it.
  private final func reportDelay(until moment: AlarmMoment) -> OperationReports? {
    guard let end = moment.monotonicNanoseconds else { return nil }
    let reports = makeRare { $0.makeReports() }
    reports.setDelayEnd(end)
    // The alarm is removed before its end is handled. If it is still set, `endDelay()` removes the value later.
    if Alarms.moment(of: self) == nil { reports.setDelayEnd(nil) }
    return reports
  }

  /// Stores the end of a delay that began before the operation was monitored. Called when a collector describes
  /// the operation.
  final func describeDelay() {
    guard status.load(ordering: .acquiring).isHeldUpByDependencies,
      reports?.last.delayEnd == nil, let moment = Alarms.moment(of: self)
    else { return }
    _ = reportDelay(until: moment)
  }

  /// Ends the delay of an operation that has finished before.
  final func endDelayOfFinished() {
    // If the operation has no alarm, another thread ends the delay.
    if Alarms.remove(self) { Self.countOffSilently(.passUnretained(self)) }
  }

  /// Ends the delay. Observers may block their thread, so they are notified on a thread of the library.
  final func alarmRings() {
    if isObserved {
      OperationQueue.duties.addOperation { self.endDelay() }
    } else {
      endDelay()
    }
  }

  private final func endDelay() {
    // If the operation is in the inbox of its queue, the queue takes it out first. Otherwise, it would stay
    // ahead of operations whose delays have ended before its own, and that are pushed behind it.
    let isPinned = update { $0.pinInInbox() }
    if isPinned, let queue = enqueuedQueue {
      queue._withUnsafeGuaranteedRef { $0.withScheduler { _, _ in } }
    }
    let reports = reports
    let wasReported = reports?.setDelayEnd(nil) == true
    countOffDependency()
    if isPinned, update({ $0.unpin() }) { pushToQueue() }
    // If the operation has become ready, its new state notifies the collector.
    if wasReported, let reports, !status.load(ordering: .acquiring).isUnheld {
      noteReports(reports)
    }
  }

  /// The time until the end of the delay for which the operation waits; `nil` if it waits for none.
  final var delayLeft: Duration? {
    guard status.load(ordering: .acquiring).isHeldUpByDependencies else { return nil }
    return Alarms.timeLeft(of: self)
  }
}

extension OperationStatus {
  /// Handles that the operation gets a delay before it is added to a queue. The delay counts like an
  /// unmet dependency, and its end is handled by ``dependencyWasMet(isAnnounced:)``.
  ///
  /// - Returns: Whether the delay was counted; `false` if the operation was added, has started or was
  ///   cancelled.
  fileprivate mutating func delayWasAdded() -> Bool {
    guard isPending, !isCancelled, !has(.enqueued) else { return false }
    countUnmet()
    forgetVerdict()
    return true
  }
}

extension Duration {
  /// The duration rounded for a sentence, such as "2.3 s", "4 min 10 s" or "3 days 4 h".
  var inWords: String {
    let (seconds, attoseconds) = components
    if seconds < 60 {
      let tenths = seconds * 10 + (attoseconds + 50_000_000_000_000_000) / 100_000_000_000_000_000
      return "\(tenths / 10).\(tenths % 10) s"
    }
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400)
    if minutes < 60 { return "\(minutes) min \(seconds % 60) s" }
    if hours < 48 { return "\(hours) h \(minutes % 60) min" }
    return "\(days) days \(hours % 24) h"
  }
}
