// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The executions of operations (runs) that ended recently. Only the newest runs are kept, up to a
/// limit, but all runs are counted.
struct RunLog {
  /// The longest time window for which runs are counted.
  static let longestWindow = Duration.seconds(600)

  private let capacity: Int
  /// The newest runs (executions of operations) as a ring buffer. When the buffer is full, the
  /// oldest run is at the index `next`.
  private var runs: [OperationRun] = []
  private var next = 0
  /// The latest time at which one of the runs that were removed from the ring had ended; `nil` if
  /// no run was removed.
  private var forgottenUntil: MonitorTime?
  /// The number of runs that ended in each second. The array is a ring with an element for each
  /// second of the longest window.
  private var endedPerSecond: [(second: Int64, count: Int)]

  /// Creates a log without runs.
  ///
  /// - Parameter capacity: The maximum number of runs to keep.
  init(capacity: Int = 10_000) {
    self.capacity = capacity
    let (seconds, _) = Self.longestWindow.components
    endedPerSecond = Array(repeating: (-1, 0), count: Int(seconds) + 1)
  }

  /// Adds the run of a finished or cancelled operation. An operation that never ran, or whose start
  /// is unknown, is ignored.
  mutating func note(_ report: OperationReport) {
    guard let run = OperationRun(report), let finished = run.finished else { return }
    if runs.count < capacity {
      runs.append(run)
    } else {
      forgottenUntil = max(forgottenUntil ?? finished, runs[next].finished ?? finished)
      runs[next] = run
      next = (next + 1) % capacity
    }
    let second = finished.nanoseconds / 1_000_000_000
    let slot = Int(second % Int64(endedPerSecond.count))
    guard endedPerSecond.indices.contains(slot) else { return }
    if endedPerSecond[slot].second == second {
      endedPerSecond[slot].count += 1
    } else {
      endedPerSecond[slot] = (second, 1)
    }
  }

  /// Returns the newest runs that ended after a moment, the newest first, and the number of all
  /// runs that ended after it.
  ///
  /// The method reads about `limit` runs. If more runs ended after the moment, it counts them by
  /// the second in which they ended.
  func runs(endedAfter start: MonitorTime, limit: Int) -> (runs: [OperationRun], count: Int) {
    var found: [OperationRun] = []
    for offset in 1...max(1, runs.count) where offset <= runs.count {
      let run = runs[(next - offset + 2 * runs.count) % runs.count]
      // The collector reads one queue after the other. Therefore the runs in the ring are sorted,
      // except for differences up to the duration of one reading.
      guard let finished = run.finished, finished > start - Self.disorder else { break }
      guard finished > start else { continue }
      if found.count == limit { return (found, count(endedAfter: start)) }
      found.append(run)
    }
    let isWhole = forgottenUntil.map { $0 <= start } ?? true
    return (found, isWhole ? found.count : max(found.count, count(endedAfter: start)))
  }

  /// The maximum time by which a run may have ended before the previous run in the ring.
  private static let disorder = Duration.seconds(2)

  private func count(endedAfter start: MonitorTime) -> Int {
    let second = start.nanoseconds / 1_000_000_000
    return endedPerSecond.reduce(0) { $1.second > second ? $0 + $1.count : $0 }
  }
}

extension OperationRun {
  /// Creates the run of an operation; `nil` if the operation has not started, or if its start is
  /// unknown.
  init?(_ report: OperationReport) {
    guard let started = report.started else { return nil }
    self.init(
      id: report.id, title: report.title,
      queue: report.queue, state: report.state, started: started, finished: report.finished,
      kind: report.kind)
  }
}
