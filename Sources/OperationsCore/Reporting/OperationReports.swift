// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// The progress of an operation, as its code has reported it last.
package struct ReportedProgress: Sendable, Equatable {
  /// The number of completed units.
  package var completed: Int
  /// The number of all units; 0 if it is unknown.
  package var total: Int
  /// The number of completed units at ``since``.
  package var base: Int
  /// The time of the first report with this total, on the monotonic clock in nanoseconds. The speed
  /// of the progress is measured from this time on.
  package var since: Int64

  /// Begins with a report.
  init(completed: Int, total: Int) {
    (self.completed, self.total, base) = (completed, total, completed)
    since = csystem_monotonic_nanoseconds()
  }

  /// Replaces the counts. If the total changes or the number of completed units decreases, the
  /// measurement of the speed begins again.
  mutating func take(completed: Int, total: Int) {
    if total == self.total, completed >= self.completed {
      self.completed = completed
    } else {
      self = ReportedProgress(completed: completed, total: total)
    }
  }
}

/// The progress and the status that the code of one operation has reported, the end of its delay, and the number of
/// its log lines.
package final class OperationReports: Sendable {
  /// The values of the last reports.
  package struct Values: Sendable {
    /// The last progress; `nil` if none was reported.
    package var progress: ReportedProgress?
    /// The last status; `nil` if none was reported.
    package var status: String?
    /// The queue of the members of a group; `nil` for other operations.
    package var memberQueue: QueueID?
    /// The time at which the operation's delay ends, on the monotonic clock in nanoseconds; `nil` if it waits
    /// for no delay, or if the clock of the delay is not one of the standard library.
    package var delayEnd: Int64?
  }

  private let state = Locked(Values())
  /// Whether a collector was notified of a report and has not read the reports since.
  private let isUnread = Atomic<Bool>(false)
  /// The number of lines that the operation has logged, including dropped ones.
  private let logLineCount = Atomic<UInt64>(0)

  /// Replaces the progress.
  func setProgress(completed: Int, total: Int) {
    state.withLock { state in
      if state.progress?.take(completed: completed, total: total) == nil {
        state.progress = ReportedProgress(completed: completed, total: total)
      }
    }
  }

  /// Replaces the status.
  func setStatus(_ status: String?) {
    let old = state.withLock { state in
      let old = state.status
      state.status = status
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// Stores the queue of the members of a group.
  func setMemberQueue(_ queue: QueueID) { state.withLock { $0.memberQueue = queue } }

  /// Stores the end of the operation's delay. Returns whether the value has changed.
  @discardableResult
  func setDelayEnd(_ end: Int64?) -> Bool {
    state.withLock { state in
      defer { state.delayEnd = end }
      return state.delayEnd != end
    }
  }

  /// The last reports.
  var last: Values { state.withLock { $0 } }

  /// Returns the number of the next log line, from 0 on.
  func nextLogLineNumber() -> UInt64 { logLineCount.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// Returns the last reports for a collector. A later report notifies the collector again.
  package func read() -> Values {
    isUnread.store(false, ordering: .sequentiallyConsistent)
    return last
  }

  /// Returns whether the collector must be notified of a report.
  @inline(__always)
  func becameUnread() -> Bool {
    !isUnread.load(ordering: .sequentiallyConsistent)
      && !isUnread.exchange(true, ordering: .sequentiallyConsistent)
  }
}
