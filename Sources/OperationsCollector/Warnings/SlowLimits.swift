// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// For how long an operation of each class may run before that is worth a warning.
///
/// A class is a Swift class, whatever its operations are called. The classes that a library's users
/// share for everything, such as `BlockOperation`, say nothing of how long one should take, and have
/// no limit.
enum SlowLimits {
  /// So many times as long as 99 of 100 operations of its class took is too long.
  static let factor = 1.5
  /// Of a class that ran less often lately it is not known what is usual.
  static let runCount = 20
  /// What is over sooner is never too long: that a quick operation was held up once is no news.
  static let shortestLimit = Duration.milliseconds(100)
  /// Of the operations that run so many are looked at, those that were made first.
  static let searchLimit = 300

  /// How long 99 of 100 operations of a class took at most; `nil` where there is no limit for it.
  static func usualTime(ofClass name: String, _ statistics: TimeStatistics?) -> Duration? {
    guard let runs = statistics?.run, runs.count >= runCount, !SharedClass.contains(name) else {
      return nil
    }
    return runs.p99
  }

  /// When an operation that started at a moment, and usually takes so long, has run for too long.
  static func moment(started: MonitorTime, usual: Duration) -> MonitorTime {
    started + max(shortestLimit, usual * factor)
  }
}
