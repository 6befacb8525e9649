// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The statistics of kinds of operations. The statistics of each kind are computed at most once per second,
/// because a computation takes about ten microseconds, and a viewer may request the statistics
/// thirty times per second.
struct KindStatistics {
  /// The maximum number of kinds whose statistics one result contains.
  static let limit = 64
  private static let validity = Duration.seconds(1)

  private struct Answer {
    let statistics: TimeStatistics?
    let validUntil: MonitorTime
  }

  private var answers: [String: Answer] = [:]

  /// Returns the statistics of these kinds. Kinds without known times are omitted.
  mutating func statistics(
    of kinds: Set<String>, in times: TimeHistograms, at now: MonitorTime
  ) -> [String: TimeStatistics] {
    // The stored statistics are removed if there are very many, because the program may set any number
    // of kinds.
    if answers.count > 4 * TimeHistograms.kindLimit { answers = [:] }
    var found: [String: TimeStatistics] = [:]
    for kind in kinds.sorted().prefix(Self.limit) {
      if let answer = answers[kind], now < answer.validUntil {
        found[kind] = answer.statistics
        continue
      }
      let statistics = times.statistics(ofKind: kind)
      answers[kind] = Answer(statistics: statistics, validUntil: now + Self.validity)
      found[kind] = statistics
    }
    return found
  }
}
