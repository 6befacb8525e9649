// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The progress that the code of an operation has reported.
public struct OperationProgress: Sendable, Equatable {
  /// The number of completed units.
  public var completed: Int
  /// The number of all units; `nil` if it is unknown.
  public var total: Int?
  /// The number of completed units at ``since``.
  public var base: Int
  /// The time from which on the rate is measured: the first report with this total.
  public var since: MonitorTime

  /// Creates a progress from its values.
  public init(completed: Int, total: Int?, base: Int, since: MonitorTime) {
    self.completed = completed
    self.total = total
    self.base = base
    self.since = since
  }

  /// Creates the progress of a group: the number of its members that have finished or were cancelled, of all
  /// members. `nil` if the group has no members.
  ///
  /// - Parameters:
  ///   - counts: The counts of the queue of the members.
  ///   - since: The time when the group started.
  package init?(ofMembers counts: StateCounts, since: MonitorTime) {
    guard counts.total > 0 else { return nil }
    self.init(
      completed: counts.finished + counts.cancelled, total: counts.total, base: 0, since: since)
  }

  /// The number of completed units, and the number of all units if it is known: `450/1000`.
  package var numbers: String { "\(completed)" + (total.map { "/\($0)" } ?? "") }

  /// The completed part, from 0 to 1; `nil` if the total is unknown.
  public var fraction: Double? {
    total.map { $0 > 0 ? min(1, max(0, Double(completed) / Double($0))) : 0 }
  }

  /// Returns the number of units per second from ``since`` until `now`; `nil` if no unit was completed
  /// since then, or if less than a tenth of a second has passed.
  public func rate(at now: MonitorTime) -> Double? {
    let elapsed = now - since
    guard completed > base, elapsed >= .milliseconds(100) else { return nil }
    return Double(completed - base) / (elapsed / .seconds(1))
  }

  /// Returns the estimated time until all units are completed, if the rate stays the same; `nil` if the
  /// total or the rate is unknown.
  public func timeLeft(at now: MonitorTime) -> Duration? {
    guard let total, let rate = rate(at: now) else { return nil }
    // A longer time is not an estimate that helps, and would not fit into a duration.
    return .seconds(min(Double(max(0, total - completed)) / rate, 1e9))
  }
}
