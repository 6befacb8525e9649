// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Histogram
import MonitorProtocol

/// The distribution of recent durations. It uses a fixed amount of memory.
///
/// A generation is a period of 30 seconds. One histogram contains the durations of the current
/// generation, and another histogram those of the previous generation. Older durations are
/// discarded.
struct RecentDurations {
  /// The precision of the percentiles. A higher precision needs more memory.
  enum Precision {
    /// A precision of one percent. The histograms need 32 kB.
    case fine
    /// A precision of ten percent. The histograms need 4 kB.
    case coarse
  }

  /// The length of a generation. A duration is kept for one to two generations.
  static let generation = Duration.seconds(30)
  /// The maximum duration in nanoseconds: one day. Longer durations count as one day.
  private static let longest: UInt64 = 86_400_000_000_000

  private var current: Histogram<UInt32>
  private var previous: Histogram<UInt32>
  private var generationStart: MonitorTime?

  init(_ precision: Precision) {
    current = Histogram(
      lowestDiscernibleValue: 1_000, highestTrackableValue: Self.longest,
      numberOfSignificantValueDigits: precision == .fine ? .two : .one)
    previous = current
  }

  /// Adds a duration that ended at `time`. A negative duration counts as zero.
  ///
  /// - Returns: The number of generations that have ended: 0, 1, or 2 if all earlier durations are discarded.
  @discardableResult
  mutating func note(_ duration: Duration, at time: MonitorTime) -> Int {
    let start = generationStart ?? time
    generationStart = start
    var endedCount = 0
    if time - start >= Self.generation {
      endedCount = time - start >= Self.generation + Self.generation ? 2 : 1
      swap(&current, &previous)
      if endedCount == 2 { previous.reset() }
      current.reset()
      generationStart = time
    }
    let nanoseconds = UInt64(max(0, duration.saturatedNanoseconds))
    current.record(min(nanoseconds, Self.longest))
    return endedCount
  }

  /// The distribution of the kept durations; `nil` if there are none.
  var percentiles: Percentiles? {
    var all = current
    if previous.totalCount > 0 { all.add(previous) }
    guard all.totalCount > 0 else { return nil }
    func value(_ percentile: Double) -> Duration {
      .nanoseconds(Int64(min(all.valueAtPercentile(percentile), all.maxRecorded)))
    }
    return Percentiles(
      count: Int(all.totalCount), p50: value(50), p90: value(90), p99: value(99))
  }
}
