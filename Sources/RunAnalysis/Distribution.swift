// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How durations are distributed: exactly, of all that are known.
public struct Distribution: Sendable, Equatable {
  /// The durations, the shortest first; at least one.
  public let durations: [Duration]
  /// All of them together.
  public let total: Duration

  /// Sorts durations; `nil` where there are none.
  public init?(_ durations: some Sequence<Duration>) {
    self.durations = durations.sorted()
    guard !self.durations.isEmpty else { return nil }
    total = self.durations.reduce(.zero, +)
  }

  /// How many there are.
  public var count: Int { durations.count }

  /// The longest.
  public var longest: Duration { durations[durations.count - 1] }

  /// The shortest duration that at least so many of a hundred do not exceed.
  ///
  /// - Parameter hundredths: 0 to 100.
  /// - Returns: One of the durations.
  public func percentile(_ hundredths: Int) -> Duration {
    let rank = (durations.count * min(max(hundredths, 0), 100) + 99) / 100
    return durations[max(0, rank - 1)]
  }
}
