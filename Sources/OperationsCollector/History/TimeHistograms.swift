// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The recent slot waits and run times of all operations together and of each kind.
struct TimeHistograms {
  /// The maximum number of kinds with their own statistics. Each kind needs 16 kB.
  static let kindLimit = 256

  private struct Times {
    var wait: RecentDurations
    var run: RecentDurations

    init(_ precision: RecentDurations.Precision) {
      wait = RecentDurations(precision)
      run = wait
    }

    mutating func note(_ report: OperationReport) {
      guard let started = report.started, let finished = report.finished else { return }
      run.note(finished - started, at: finished)
      guard let ready = report.becameReady else { return }
      wait.note(started - ready, at: finished)
    }

    var statistics: TimeStatistics {
      TimeStatistics(wait: wait.percentiles, run: run.percentiles)
    }
  }

  private var all = Times(.fine)
  private var kinds: [String: Times] = [:]

  /// Adds the times of a finished or cancelled operation. An operation that never ran, or whose
  /// start is unknown, is ignored.
  mutating func note(_ report: OperationReport) {
    guard report.started != nil, report.finished != nil, !report.neverRan else { return }
    all.note(report)
    let kind = report.kind
    guard kinds.count < Self.kindLimit || kinds[kind] != nil else { return }
    kinds[kind, default: Times(.coarse)].note(report)
  }

  /// The statistics of the recent slot waits and run times of all operations together.
  var statistics: TimeStatistics { all.statistics }

  /// Returns the statistics of one kind; `nil` if the kind has no statistics of its own.
  func statistics(ofKind kind: String) -> TimeStatistics? { kinds[kind]?.statistics }
}
