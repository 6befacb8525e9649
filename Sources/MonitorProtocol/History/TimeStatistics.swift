// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The distribution of durations, each exact to about one percent.
public struct Percentiles: Sendable, Equatable {
  /// The number of durations; at least 1.
  public var count: Int
  /// The median.
  public var p50: Duration
  /// The 90th percentile.
  public var p90: Duration
  /// The 99th percentile.
  public var p99: Duration

  /// Creates a distribution.
  public init(count: Int, p50: Duration, p90: Duration, p99: Duration) {
    self.count = count
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
  }
}

/// The slot waits and the run times of the operations that finished recently.
///
/// "Recently" is a window of 30 to 60 seconds before the last finish. While no operation finishes,
/// the statistics do not change.
public struct TimeStatistics: Sendable, Equatable {
  /// The time from ready to started; `nil` if unknown.
  public var wait: Percentiles?
  /// The time from started to finished; `nil` if unknown.
  public var run: Percentiles?

  /// Creates statistics; by default without known times.
  public init(wait: Percentiles? = nil, run: Percentiles? = nil) {
    self.wait = wait
    self.run = run
  }
}

/// The classes that programs use for unrelated work.
package enum SharedClass {
  /// Returns whether a class, given by its name without the module, is one of them. The run times
  /// of its operations do not predict the run time of another one.
  package static func contains(_ name: String) -> Bool {
    name == "Operation" || name == "BlockOperation" || name.hasPrefix("InvocationOperation<")
  }
}
