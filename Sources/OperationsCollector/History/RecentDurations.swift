// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Histogram
import MonitorProtocol

/// How durations of the recent past are distributed, in a fixed amount of memory.
///
/// There are two histograms: what is older than the one before the last generation is forgotten.
struct RecentDurations {
  /// How exact the answers are, and how much memory they take.
  enum Precision {
    /// To a hundredth; 32 kB.
    case fine
    /// To a tenth; 4 kB.
    case coarse
  }

  /// How long a generation lasts: durations are kept between one and two of these.
  static let generation = Duration.seconds(30)
  /// What takes longer than a day counts as a day.
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

  /// Takes in a duration that ended at `time`. A negative one counts as zero.
  mutating func note(_ duration: Duration, at time: MonitorTime) {
    let start = generationStart ?? time
    generationStart = start
    if time - start >= Self.generation {
      let isLongAgo = time - start >= Self.generation + Self.generation
      swap(&current, &previous)
      if isLongAgo { previous.reset() }
      current.reset()
      generationStart = time
    }
    let nanoseconds = UInt64(max(0, duration.saturatedNanoseconds))
    current.record(min(nanoseconds, Self.longest))
  }

  /// The distribution; `nil` where there is nothing.
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
