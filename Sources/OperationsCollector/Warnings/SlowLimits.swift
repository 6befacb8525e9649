// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The maximum run time of each class's operations before a warning.
///
/// A class is a Swift class, regardless of the names of its operations. Classes that programs use
/// for unrelated work, such as `BlockOperation`, do not predict run times and have no limit.
enum SlowLimits {
  /// The limit as a multiple of the 99th percentile of the class.
  static let factor = 1.5
  /// The minimum number of recent runs of a class. With fewer runs, the usual time is unknown.
  static let runCount = 20
  /// The minimum for the limit. Single delays of a quick operation cause no warning.
  static let shortestLimit = Duration.milliseconds(100)
  /// The maximum number of running operations that are examined, those with the lowest ids first.
  static let searchLimit = 300

  /// Returns the 99th percentile of a class; `nil` if the class has no limit.
  static func usualTime(ofClass name: String, _ statistics: TimeStatistics?) -> Duration? {
    guard let runs = statistics?.run, runs.count >= runCount, !SharedClass.contains(name) else {
      return nil
    }
    return runs.p99
  }

  /// Returns when an operation that started at a moment has run for too long.
  static func moment(started: MonitorTime, usual: Duration) -> MonitorTime {
    started + max(shortestLimit, usual * factor)
  }
}
