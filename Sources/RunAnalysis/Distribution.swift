// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The exact distribution of all known durations.
public struct Distribution: Sendable, Equatable {
  /// The durations, the shortest first. There is at least one.
  public let durations: [Duration]
  /// The sum of the durations.
  public let total: Duration

  /// Sorts durations; `nil` if there are none.
  public init?(_ durations: some Sequence<Duration>) {
    self.durations = durations.sorted()
    guard !self.durations.isEmpty else { return nil }
    total = self.durations.reduce(.zero, +)
  }

  /// The number of durations.
  public var count: Int { durations.count }

  /// The longest duration.
  public var longest: Duration { durations[durations.count - 1] }

  /// Returns the shortest duration that at least this percentage of the durations does not exceed.
  ///
  /// - Parameter hundredths: The percentage, from 0 to 100.
  /// - Returns: One of the durations.
  public func percentile(_ hundredths: Int) -> Duration {
    let rank = (durations.count * min(max(hundredths, 0), 100) + 99) / 100
    return durations[max(0, rank - 1)]
  }
}
