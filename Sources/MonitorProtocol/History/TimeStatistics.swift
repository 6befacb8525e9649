// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How durations are distributed, each to about a hundredth of its value.
public struct Percentiles: Sendable, Equatable {
  /// How many durations there were; at least 1.
  public var count: Int
  /// Half of them took at most so long.
  public var p50: Duration
  /// Nine of ten took at most so long.
  public var p90: Duration
  /// Ninety-nine of a hundred took at most so long.
  public var p99: Duration

  /// Creates a distribution.
  public init(count: Int, p50: Duration, p90: Duration, p99: Duration) {
    self.count = count
    self.p50 = p50
    self.p90 = p90
    self.p99 = p99
  }
}

/// How long the operations that have finished lately waited for a slot, and how long they ran.
///
/// Lately means between half a minute and a minute, up to the last operation that finished: while
/// nothing finishes, nothing changes here.
public struct TimeStatistics: Sendable, Equatable {
  /// From ready to started; `nil` where none is known.
  public var wait: Percentiles?
  /// From started to finished; `nil` where none is known.
  public var run: Percentiles?

  /// Creates statistics; by default nothing is known.
  public init(wait: Percentiles? = nil, run: Percentiles? = nil) {
    self.wait = wait
    self.run = run
  }
}

/// The classes whose operations have nothing in common: programs use them for everything.
package enum SharedClass {
  /// Whether a class, by its name without the module, is one of them: how long its operations ran says
  /// nothing of how long another one will.
  package static func contains(_ name: String) -> Bool {
    name == "Operation" || name == "BlockOperation" || name.hasPrefix("InvocationOperation<")
  }
}
