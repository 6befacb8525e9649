// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import MonitorProtocol

/// The number of operations in one state over the time of a run.
public struct ConcurrencyCurve: Sendable, Equatable {
  /// The moment at which the curve begins.
  public let start: MonitorTime
  /// The moment at which the curve ends.
  public let end: MonitorTime
  /// The average number of operations in each part of the time. All parts have the same length.
  public private(set) var means: [Double]
  /// The maximum number of operations at one moment.
  public private(set) var peak = 0

  /// The average number of operations over the whole time.
  public var mean: Double { means.isEmpty ? 0 : means.reduce(0, +) / Double(means.count) }

  /// Creates a curve from the times in which operations were in the state.
  ///
  /// - Parameters:
  ///   - spans: The times in which each operation was in the state.
  ///   - time: The time to examine. Parts of spans outside it are ignored.
  ///   - count: The number of parts into which the time is divided; at least 1.
  public init(
    _ spans: some Sequence<Range<MonitorTime>>, in time: Range<MonitorTime>, parts count: Int
  ) {
    (start, end) = (time.lowerBound, time.upperBound)
    let length = Double(max(1, end.nanoseconds - start.nanoseconds))
    // The parts that a span covers completely are not counted one by one. Only two changes are stored: the
    // count increases at the first of these parts, and decreases after the last one.
    var partial = [Double](repeating: 0, count: max(1, count) + 1)
    var whole = partial
    var steps: [(time: Int64, step: Int)] = []
    for span in spans {
      let clamped = span.clamped(to: time)
      guard !clamped.isEmpty else { continue }
      steps.append((clamped.lowerBound.nanoseconds, 1))
      steps.append((clamped.upperBound.nanoseconds, -1))
      let scale = Double(max(1, count)) / length
      let from = Double(clamped.lowerBound.nanoseconds - start.nanoseconds) * scale
      let to = Double(clamped.upperBound.nanoseconds - start.nanoseconds) * scale
      let (first, last) = (Int(from), min(Int(to), partial.count - 1))
      if first == last {
        partial[first] += to - from
      } else {
        partial[first] += Double(first + 1) - from
        partial[last] += to - Double(last)
        whole[first + 1] += 1
        whole[last] -= 1
      }
    }
    var running = 0.0
    means = (0..<max(1, count)).map { part in
      running += whole[part]
      return running + partial[part]
    }
    peak = Self.peak(of: &steps)
  }

  /// Creates a curve from samples, which are the numbers of operations in each state at certain moments. This
  /// initializer is for a run in which some operations were not recorded.
  ///
  /// - Parameters:
  ///   - samples: The samples, sorted by time.
  ///   - count: A function that returns the relevant number of operations from the counts of a sample.
  ///   - time: The time to examine.
  ///   - parts: The number of parts into which the time is divided; at least 1.
  public init(
    _ samples: [RunHistory.Sample], _ count: (StateCounts) -> Int, in time: Range<MonitorTime>,
    parts: Int
  ) {
    (start, end) = (time.lowerBound, time.upperBound)
    peak = samples.reduce(0) { max($0, count($1.counts)) }
    let step = Double(end.nanoseconds - start.nanoseconds) / Double(max(1, parts))
    var index = 0
    let counts = (0..<max(1, parts)).map { part -> Double in
      let middle = time.lowerBound.nanoseconds + Int64((Double(part) + 0.5) * step)
      while index + 1 < samples.count, samples[index + 1].time.nanoseconds <= middle { index += 1 }
      return samples.isEmpty ? 0 : Double(count(samples[index].counts))
    }
    means = counts
  }

  /// Returns the maximum number of operations at one moment. If one span ends and another span begins at the
  /// same moment, the end is counted first, so the two spans do not overlap.
  private static func peak(of steps: inout [(time: Int64, step: Int)]) -> Int {
    steps.sort { ($0.time, $0.step) < ($1.time, $1.step) }
    var (count, peak) = (0, 0)
    for step in steps {
      count += step.step
      peak = max(peak, count)
    }
    return peak
  }
}
