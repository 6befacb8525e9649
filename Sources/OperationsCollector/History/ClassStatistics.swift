// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The statistics of classes. The statistics of each class are computed at most once per second,
/// because a computation takes about ten microseconds, and a viewer may request the statistics
/// thirty times per second.
struct ClassStatistics {
  /// The maximum number of classes whose statistics one result contains.
  static let limit = 64
  private static let validity = Duration.seconds(1)

  private struct Answer {
    let statistics: TimeStatistics?
    let validUntil: MonitorTime
  }

  private var answers: [String: Answer] = [:]

  /// Returns the statistics of these classes, by the name of the class. Classes without known times
  /// are omitted.
  mutating func statistics(
    of names: Set<String>, in times: TimeHistograms, at now: MonitorTime
  ) -> [String: TimeStatistics] {
    // The stored statistics are removed if there are very many. The number of a program's classes
    // is limited, but a collector may run for a long time.
    if answers.count > 4 * TimeHistograms.classLimit { answers = [:] }
    var found: [String: TimeStatistics] = [:]
    for name in names.sorted().prefix(Self.limit) {
      if let answer = answers[name], now < answer.validUntil {
        found[name] = answer.statistics
        continue
      }
      let statistics = times.statistics(ofClass: name)
      answers[name] = Answer(statistics: statistics, validUntil: now + Self.validity)
      found[name] = statistics
    }
    return found
  }
}
