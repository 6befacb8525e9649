// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// For how long an operation of each class may run before that is worth a warning.
///
/// A class is a Swift class, whatever its operations are called. The classes that a library's users
/// share for everything, such as `BlockOperation`, say nothing of how long one should take, and have
/// no limit.
struct SlowLimits {
  /// So many times as long as 99 of 100 operations of its class took is too long.
  static let factor = 1.5
  /// Of a class that ran less often lately it is not known what is usual.
  static let runCount = 20
  /// What is over sooner is never too long: that a quick operation was held up once is no news.
  static let shortestLimit = Duration.milliseconds(100)
  /// Of the operations that run so many are looked at, those that were made first.
  static let searchLimit = 300

  /// So long an answer is used again: percentiles cost some ten microseconds.
  private static let validity = Duration.seconds(1)

  private struct Answer {
    let usual: Duration?
    let validUntil: MonitorTime
  }

  private var answers: [String: Answer] = [:]

  /// How long 99 of 100 operations of a class took at most; `nil` where there is no limit for it.
  mutating func usualTime(
    ofClass name: String, in times: TimeRecorder, at now: MonitorTime
  ) -> Duration? {
    if let answer = answers[name], now < answer.validUntil { return answer.usual }
    var usual: Duration?
    if !Self.isShared(name), let runs = times.runs(ofClass: name),
      runs.count >= Self.runCount
    {
      usual = runs.p99
    }
    answers[name] = Answer(usual: usual, validUntil: now + Self.validity)
    return usual
  }

  private static func isShared(_ name: String) -> Bool {
    name == "Operation" || name == "BlockOperation" || name.hasPrefix("InvocationOperation<")
  }

  /// When an operation that started at a moment, and usually takes so long, has run for too long.
  static func moment(started: MonitorTime, usual: Duration) -> MonitorTime {
    started + max(shortestLimit, usual * factor)
  }
}
