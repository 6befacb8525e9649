// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The statistics of classes, each of which is made anew once a second at most: percentiles cost some
/// ten microseconds, and a viewer asks thirty times a second.
struct ClassStatistics {
  /// More classes at once are not told of.
  static let limit = 64
  private static let validity = Duration.seconds(1)

  private struct Answer {
    let statistics: TimeStatistics?
    let validUntil: MonitorTime
  }

  private var answers: [String: Answer] = [:]

  /// What is known of these classes, by name; one of which nothing is known is left out.
  mutating func statistics(
    of names: Set<String>, in times: TimeHistograms, at now: MonitorTime
  ) -> [String: TimeStatistics] {
    // Names come and go with the programs' types only, but a collector lives long.
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
