// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Computes the run time from which on an operation causes a warning.
///
/// Each kind of operation has a limit of its own. The names of operations do not matter. If no kind
/// was set, the kind is the name of the class. A class that programs use for unrelated work, such as
/// `BlockOperation`, has no limit, because earlier run times do not predict the next one.
enum SlowLimits {
  /// The run time from which on operations of a kind cause a warning (the limit of the kind), as
  /// a multiple of the 99th percentile of the recent run times of the kind.
  static let factor = 1.5
  /// The minimum number of recent runs of a kind. With fewer runs, the usual time is unknown.
  static let runCount = 20
  /// The shortest limit of a kind, which is the run time from which on its operations cause a
  /// warning. The shortest limit prevents warnings about single delays of operations that usually
  /// run for a short time.
  static let shortestLimit = Duration.milliseconds(100)
  /// The maximum number of running operations that are examined. The operations with the lowest ids
  /// are examined first.
  static let searchLimit = 300

  /// Returns the 99th percentile of the recent run times of a kind; `nil` if the kind has no
  /// limit.
  static func usualTime(ofKind kind: String, _ statistics: TimeStatistics?) -> Duration? {
    guard let runs = statistics?.run, runs.count >= runCount, !SharedClass.contains(kind) else {
      return nil
    }
    return runs.p99
  }

  /// Returns the time at which an operation becomes slow if it still runs. The result depends on
  /// its start time and on the usual run time of its kind.
  static func moment(started: MonitorTime, usual: Duration) -> MonitorTime {
    started + max(shortestLimit, usual * factor)
  }
}
