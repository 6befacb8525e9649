// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The statistics of kinds of operations and of queues.
///
/// The statistics of each kind and queue are computed at most once per second, because a computation takes about ten
/// microseconds, and a viewer may request the statistics thirty times per second. After the last change, they are
/// computed once more. If no operation executes, a limited number of them are computed at once, so that usually no
/// further update follows. Short operations are over whenever the queues are read.
struct KindStatistics {
  /// The maximum number of kinds whose statistics one result contains.
  static let limit = 64
  private static let validity = Duration.seconds(1)
  /// The maximum number of statistics per second that are computed although the last computation is less than a second
  /// ago.
  static let earlyLimit = 200

  private struct Answer {
    let statistics: TimeStatistics
    /// The number of operations in the statistics.
    let count: Int
    let validUntil: MonitorTime
  }

  private var answers: [OperationGroups.Key: Answer] = [:]
  /// The number of early computations that are still allowed until a time.
  private var early = (count: 0, until: MonitorTime(nanoseconds: .min))
  private var isLastUpdate = false
  /// The first time at which statistics that were returned since the last call of ``beginUpdate()`` can be computed
  /// again; `nil` if all of them were up to date.
  private(set) var nextChange: MonitorTime?

  /// Begins another update for a viewer. The statistics in the last update are up to date, because no update follows it.
  mutating func beginUpdate(isLast: Bool = false) {
    nextChange = nil
    isLastUpdate = isLast
  }

  /// Returns the statistics of a kind or a queue.
  ///
  /// - Parameters:
  ///   - key: The kind or the queue.
  ///   - times: The times of all kinds and queues.
  ///   - now: The current time.
  ///   - isAtRest: Whether no operation executes. In this case, the statistics are up to date unless very many have
  ///     changed.
  /// - Returns: The statistics; `nil` if no times are known.
  mutating func statistics(
    of key: OperationGroups.Key, in times: TimeHistograms, at now: MonitorTime, isAtRest: Bool
  ) -> TimeStatistics? {
    guard let recent = times.times(of: key) else { return nil }
    if let answer = answers[key] {
      if answer.count == recent.count { return answer.statistics }
      if now < answer.validUntil, !isLastUpdate, !(isAtRest && takeEarly(at: now)) {
        nextChange = min(nextChange ?? answer.validUntil, answer.validUntil)
        return answer.statistics
      }
    }
    // The stored statistics are removed if there are very many, because the program may create any number of queues.
    if answers.count > 4 * TimeHistograms.kindLimit { answers = [:] }
    let statistics = recent.statistics
    answers[key] = Answer(
      statistics: statistics, count: recent.count, validUntil: now + Self.validity)
    return statistics
  }

  /// Counts an early computation. Returns whether it is allowed.
  private mutating func takeEarly(at now: MonitorTime) -> Bool {
    if now >= early.until { early = (Self.earlyLimit, now + Self.validity) }
    guard early.count > 0 else { return false }
    early.count -= 1
    return true
  }

  /// Returns the statistics of these kinds. Kinds without known times are omitted.
  mutating func statistics(
    of kinds: Set<String>, in times: TimeHistograms, at now: MonitorTime, isAtRest: Bool
  ) -> [String: TimeStatistics] {
    var found: [String: TimeStatistics] = [:]
    for kind in kinds.sorted().prefix(Self.limit) {
      found[kind] = statistics(of: .kind(kind), in: times, at: now, isAtRest: isAtRest)
    }
    return found
  }
}
