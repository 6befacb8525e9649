// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The exact distribution of durations.
public struct Distribution: Sendable, Equatable {
  /// The durations in ascending order. There is at least one duration.
  public let durations: [Duration]
  /// The sum of all durations.
  public let total: Duration

  /// Creates the distribution of durations; `nil` if there are no durations.
  public init?(_ durations: some Sequence<Duration>) {
    self.durations = durations.sorted()
    guard !self.durations.isEmpty else { return nil }
    total = self.durations.reduce(.zero, +)
  }

  /// The number of durations.
  public var count: Int { durations.count }

  /// The longest duration.
  public var longest: Duration { durations[durations.count - 1] }

  /// Returns a percentile: the shortest duration that is at least as long as this percentage of all
  /// durations.
  ///
  /// - Parameter hundredths: The percentage, from 0 to 100.
  /// - Returns: One of the durations of the distribution.
  public func percentile(_ hundredths: Int) -> Duration {
    let rank = (durations.count * min(max(hundredths, 0), 100) + 99) / 100
    return durations[max(0, rank - 1)]
  }
}
