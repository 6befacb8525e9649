// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The runs that have ended lately: the newest, up to a number, and how many there were.
struct RunLog {
  /// No window reaches further back.
  static let longestWindow = Duration.seconds(600)

  private let capacity: Int
  /// A ring: once it is full, the oldest is at `next`.
  private var runs: [OperationRun] = []
  private var next = 0
  /// When the last one ended that is no longer in the ring.
  private var forgottenUntil: MonitorTime?
  /// How many ended in each second: the second, and how many; a ring as long as the longest window.
  private var endedPerSecond: [(second: Int64, count: Int)]

  /// - Parameter capacity: How many runs are kept.
  init(capacity: Int = 10_000) {
    self.capacity = capacity
    let (seconds, _) = Self.longestWindow.components
    endedPerSecond = Array(repeating: (-1, 0), count: Int(seconds) + 1)
  }

  /// Takes in an operation that is over; one that never ran, or of which that is not known, is
  /// ignored.
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

  /// The runs that ended after a moment: the newest, the newest first, and how many there are.
  ///
  /// Looks at no more runs than `limit`, unless it has to count what is left out.
  func runs(endedAfter start: MonitorTime, limit: Int) -> (runs: [OperationRun], count: Int) {
    var found: [OperationRun] = []
    for offset in 1...max(1, runs.count) where offset <= runs.count {
      let run = runs[(next - offset + 2 * runs.count) % runs.count]
      // Queues are read one after the other, so that the ring is in order but for one reading.
      guard let finished = run.finished, finished > start - Self.disorder else { break }
      guard finished > start else { continue }
      if found.count == limit { return (found, count(endedAfter: start)) }
      found.append(run)
    }
    let isWhole = forgottenUntil.map { $0 <= start } ?? true
    return (found, isWhole ? found.count : max(found.count, count(endedAfter: start)))
  }

  /// By how much a run may have ended before the one that was noted before it.
  private static let disorder = Duration.seconds(2)

  private func count(endedAfter start: MonitorTime) -> Int {
    let second = start.nanoseconds / 1_000_000_000
    return endedPerSecond.reduce(0) { $1.second > second ? $0 + $1.count : $0 }
  }
}

extension OperationRun {
  /// The run of an operation; `nil` where it has not started, or that is not known.
  init?(_ report: OperationReport) {
    guard let started = report.started else { return nil }
    self.init(
      id: report.id, title: report.name.isEmpty ? report.className : report.name,
      queue: report.queue, state: report.state, started: started, finished: report.finished)
  }
}
