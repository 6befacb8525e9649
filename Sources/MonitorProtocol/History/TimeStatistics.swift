// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The distribution of a set of durations. Each value is exact to about one percent.
public struct Percentiles: Sendable, Equatable {
  /// The number of durations in the set; at least 1.
  public var count: Int
  /// The median of the durations.
  public var p50: Duration
  /// The 90th percentile of the durations.
  public var p90: Duration
  /// The 99th percentile of the durations.
  public var p99: Duration

  /// Creates a distribution of durations.
  public init(count: Int, p50: Duration, p90: Duration, p99: Duration) {
    self.count = count
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
  }
}

/// The slot waits and the run times of the operations that finished recently.
///
/// "Recently" means the 30 to 60 seconds before the last operation finished. While no operation
/// finishes, the statistics do not change.
public struct TimeStatistics: Sendable, Equatable {
  /// The distribution of the times from ready to started; `nil` if no such time is known.
  public var wait: Percentiles?
  /// The distribution of the times from started to finished; `nil` if no such time is known.
  public var run: Percentiles?

  /// Creates statistics. By default, no times are known.
  public init(wait: Percentiles? = nil, run: Percentiles? = nil) {
    self.wait = wait
    self.run = run
  }
}

/// The classes that programs use for unrelated work.
package enum SharedClass {
  /// Returns whether programs use the class with this name for unrelated work. The run times of
  /// such operations do not predict the run time of another operation of the class. The name does
  /// not include the module.
  package static func contains(_ name: String) -> Bool {
    name == "Operation" || name == "BlockOperation" || name.hasPrefix("InvocationOperation<")
  }
}
