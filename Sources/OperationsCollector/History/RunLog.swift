// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The runs that ended recently: the newest, up to a limit, and their total number.
struct RunLog {
  /// The longest window of runs.
  static let longestWindow = Duration.seconds(600)

  private let capacity: Int
  /// A ring buffer. When it is full, the oldest run is at `next`.
  private var runs: [OperationRun] = []
  private var next = 0
  /// The end of the last run that is no longer in the ring.
  private var forgottenUntil: MonitorTime?
  /// The number of runs that ended in each second. It is a ring with the length of the longest
  /// window.
  private var endedPerSecond: [(second: Int64, count: Int)]

  /// - Parameter capacity: The maximum number of runs.
  init(capacity: Int = 10_000) {
    self.capacity = capacity
    let (seconds, _) = Self.longestWindow.components
    endedPerSecond = Array(repeating: (-1, 0), count: Int(seconds) + 1)
  }

  /// Adds a finished or cancelled operation. Operations that never ran, or whose run is unknown,
  /// are ignored.
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

  /// Returns the newest runs that ended after a moment, the newest first, and their total number.
  ///
  /// Reads at most `limit` runs, unless the left-out runs must be counted.
  func runs(endedAfter start: MonitorTime, limit: Int) -> (runs: [OperationRun], count: Int) {
    var found: [OperationRun] = []
    for offset in 1...max(1, runs.count) where offset <= runs.count {
      let run = runs[(next - offset + 2 * runs.count) % runs.count]
      // Queues are read one after the other, so the ring is sorted except for the time of one
      // reading.
      guard let finished = run.finished, finished > start - Self.disorder else { break }
      guard finished > start else { continue }
      if found.count == limit { return (found, count(endedAfter: start)) }
      found.append(run)
    }
    let isWhole = forgottenUntil.map { $0 <= start } ?? true
    return (found, isWhole ? found.count : max(found.count, count(endedAfter: start)))
  }

  /// The maximum time by which a run may have ended before the previous one in the ring.
  private static let disorder = Duration.seconds(2)

  private func count(endedAfter start: MonitorTime) -> Int {
    let second = start.nanoseconds / 1_000_000_000
    return endedPerSecond.reduce(0) { $1.second > second ? $0 + $1.count : $0 }
  }
}

extension OperationRun {
  /// Creates the run of an operation; `nil` if it has not started, or if its start is unknown.
  init?(_ report: OperationReport) {
    guard let started = report.started else { return nil }
    self.init(
      id: report.id, title: report.name.isEmpty ? report.className : report.name,
      queue: report.queue, state: report.state, started: started, finished: report.finished)
  }
}
