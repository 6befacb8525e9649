// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The order in which a viewer lists operations.
public struct SortOrder: Sendable, Hashable {
  /// What operations are compared by; where two are alike, by state, then time in it, then id.
  public enum Column: String, Sendable, CaseIterable {
    /// By id, which is by age.
    case id
    /// Executing first, then cancelling, ready, held and waiting, what is over last.
    case state
    /// By the name of the queue.
    case queue
    /// The highest priority first.
    case priority
    /// The most unfinished dependencies first.
    case dependencies
    /// The longest in its state first; behind these what is over, the longest run first.
    case time
    /// The longest run that is over first; behind these what runs, the longest first, and then the rest.
    case run
    /// The one that most operations depend on first.
    case dependents
    /// By name, or class where there is no name; letters from A to Z and then a to z.
    case name
  }

  /// What operations are compared by.
  public var column: Column
  /// Whether everything is the other way round.
  public var isReversed: Bool

  /// Creates an order; by default the one of a new viewer: by state, then by time in it.
  public init(by column: Column = .state, isReversed: Bool = false) {
    self.column = column
    self.isReversed = isReversed
  }
}

/// The place of one operation among the others in a ``SortOrder``.
///
/// A key holds moments, not ages, so that an order stays right while time goes on.
package struct SortKey: Sendable, Hashable, Comparable {
  /// The operation.
  package let id: OperationReport.ID
  /// Whether the operation is over.
  package let isOver: Bool
  private let text: String
  private let value: Int64
  private let rank: UInt8
  private let stamp: Int64

  /// - Parameters:
  ///   - report: The operation.
  ///   - queueName: The name of its queue, which only an order by queue looks at.
  ///   - column: What to compare by; see ``SortOrder/isReversed`` for the direction.
  ///   - isGone: Whether its process has ended before it was over: it stands where what is over does, but
  ///     before that.
  package init(
    _ report: OperationReport, queueName: @autoclosure () -> String = "",
    by column: SortOrder.Column = .state, isGone: Bool = false
  ) {
    id = report.id
    isOver = report.state.isOver || isGone
    let runStamp = report.state.isOver ? Self.runStamp(of: report) : nil
    let isLeft = isGone && !report.state.isOver
    let stateRank = Self.rank(of: report.state) + (isLeft ? 5 : 0)
    switch column {
    case .time:
      rank = isOver ? 1 : 0
      stamp = isOver ? runStamp ?? .max : Self.stamp(of: report)
    case .run:
      rank = runStamp == nil ? 1 + stateRank : 0
      stamp = runStamp ?? Self.stamp(of: report)
    case .id, .state, .queue, .priority, .dependencies, .dependents, .name:
      rank = stateRank
      stamp = Self.stamp(of: report)
    }
    text =
      switch column {
      case .queue: queueName()
      case .name: report.name.isEmpty ? report.className : report.name
      case .id, .state, .priority, .dependencies, .time, .run, .dependents: ""
      }
    value =
      switch column {
      case .id: Int64(truncatingIfNeeded: report.id.rawValue)
      case .priority: -Int64(report.priority.rawValue)
      case .dependencies: -Int64(report.unmetDependencyCount)
      case .dependents: -Int64(report.dependentCount)
      case .state, .queue, .time, .run, .name: 0
      }
  }

  package static func < (left: SortKey, right: SortKey) -> Bool {
    if left.value != right.value { return left.value < right.value }
    if left.text != right.text { return left.text < right.text }
    if left.rank != right.rank { return left.rank < right.rank }
    if left.stamp != right.stamp { return left.stamp < right.stamp }
    return left.id < right.id
  }

  /// Nanoseconds, ascending: the longest in its state first, but what is over newest first.
  private static func stamp(of report: OperationReport) -> Int64 {
    if report.state.isOver { return report.finished.map { -$0.nanoseconds } ?? .max }
    return report.stateEntered?.nanoseconds ?? .min
  }

  /// Nanoseconds, ascending: what ran longest first; `nil` for what never ran.
  private static func runStamp(of report: OperationReport) -> Int64? {
    guard let started = report.started, let finished = report.finished else { return nil }
    return started.nanoseconds &- finished.nanoseconds
  }

  private static func rank(of state: OperationState) -> UInt8 {
    switch state {
    case .executing: 0
    case .cancelling: 1
    case .ready: 2
    case .held: 3
    case .waiting: 4
    // Between these and the others is what a process has left that is gone.
    case .finished, .cancelled: 10
    }
  }
}
