// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The order in which a viewer lists operations.
public struct SortOrder: Sendable, Hashable {
  /// The value by which operations are ordered. Equal operations are ordered by state, then by the
  /// time in the state, then by id.
  public enum Column: String, Sendable, CaseIterable {
    /// Sorts by id. An operation gets its id when the id is first needed, so the order of ids may
    /// differ from the order in which operations were added.
    case id
    /// Sorts by state: executing, cancelling, ready, held, waiting, then finished and cancelled.
    case state
    /// Sorts by the name of the queue.
    case queue
    /// Sorts by priority, the highest first.
    case priority
    /// Sorts by the number of unfinished dependencies, the largest first.
    case dependencies
    /// Sorts by the time in the state, the longest first, and then finished and cancelled
    /// operations by run time, the longest first.
    case time
    /// Sorts by run time: first finished and cancelled operations that ran, the longest run first;
    /// then executing operations, the longest run first; then all other operations.
    case run
    /// Sorts by the number of dependents, the largest first.
    case dependents
    /// Sorts by name, or by kind if an operation has no name. Uppercase letters come before
    /// lowercase letters.
    case name
    /// Sorts by the time at which the operations were added to their queues, the earliest first.
    /// Operations that were added before monitoring began come first, by id.
    case added
    /// Sorts by the position in the run order of the queue: first executing operations; then the next ready operation
    /// of each queue, then the second one of each queue, and so on; then all other operations by state. Equal
    /// positions are ordered by the name of the queue.
    case position
  }

  /// The value by which operations are ordered.
  public var column: Column
  /// Whether the order is reversed.
  public var isReversed: Bool

  /// Creates an order. The default is the order of a new viewer: by state, then by the time in the
  /// state.
  public init(by column: Column = .state, isReversed: Bool = false) {
    self.column = column
    self.isReversed = isReversed
  }

  /// Returns the order that a viewer requests from a process with this version of the protocol. Processes of
  /// versions 1.0 and 1.1 do not know the order of adding. The order of ids is almost the same. Processes before
  /// version 1.4 do not know the order of positions. They sort by state.
  package func understood(by versions: ProtocolVersions) -> SortOrder {
    switch column {
    case .added where versions.minor < 2: SortOrder(by: .id, isReversed: isReversed)
    case .position where !versions.knowsQueueDetails: SortOrder(by: .state, isReversed: isReversed)
    case .id, .state, .queue, .priority, .dependencies, .time, .run, .dependents, .name, .added,
      .position:
      self
    }
  }
}

/// The position of one operation in a ``SortOrder``.
///
/// A sort key contains moments instead of ages, so that the order stays correct as time passes.
package struct SortKey: Sendable, Hashable, Comparable {
  /// The id of the operation that this key sorts.
  package let id: OperationReport.ID
  /// Whether the operation is finished or cancelled.
  package let isOver: Bool
  private let text: String
  private let value: Int64
  private let rank: UInt8
  private let stamp: Int64

  /// Creates the sort key of an operation.
  ///
  /// - Parameters:
  ///   - report: The operation.
  ///   - queueName: The name of its queue, which only an order by queue or by position evaluates.
  ///   - column: The value to order by; see ``SortOrder/isReversed`` for the direction.
  ///   - isGone: Whether its process ended before the operation finished. Such operations come
  ///     directly before finished and cancelled operations.
  ///   - position: The position of the operation in the run order of its queue, from 1 on, which only an order by
  ///     position evaluates; `nil` if it is unknown. The position of an operation that has started since the order was
  ///     read is ignored.
  package init(
    _ report: OperationReport, queueName: @autoclosure () -> String = "",
    by column: SortOrder.Column = .state, isGone: Bool = false, position: Int? = nil
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
    case .added:
      rank = 0
      stamp = report.added?.nanoseconds ?? .min
    case .id, .state, .queue, .priority, .dependencies, .dependents, .name, .position:
      rank = stateRank
      stamp = Self.stamp(of: report)
    }
    let place = column == .position ? Self.place(of: report, at: isGone ? nil : position) : 0
    text =
      switch column {
      case .queue: queueName()
      case .position: place > 0 && place < .max ? queueName() : ""
      case .name: report.title
      case .id, .added, .state, .priority, .dependencies, .time, .run, .dependents: ""
      }
    value =
      switch column {
      case .id: Int64(truncatingIfNeeded: report.id.rawValue)
      case .priority: -Int64(report.priority.rawValue)
      case .dependencies: -Int64(report.unmetDependencyCount)
      case .dependents: -Int64(report.dependentCount)
      case .position: isLeft ? .max : place
      case .added, .state, .queue, .time, .run, .name: 0
      }
  }

  package static func < (left: SortKey, right: SortKey) -> Bool {
    if left.value != right.value { return left.value < right.value }
    if left.text != right.text { return left.text < right.text }
    if left.rank != right.rank { return left.rank < right.rank }
    if left.stamp != right.stamp { return left.stamp < right.stamp }
    return left.id < right.id
  }

  /// Returns a number for sorting by time. The longest time in a state sorts first. Among finished
  /// and cancelled operations, the newest sorts first.
  private static func stamp(of report: OperationReport) -> Int64 {
    if report.state.isOver { return report.finished.map { -$0.nanoseconds } ?? .max }
    return report.stateEntered?.nanoseconds ?? .min
  }

  /// Returns a number for sorting by run time; `nil` if the operation never ran. The longest run
  /// sorts first.
  private static func runStamp(of report: OperationReport) -> Int64? {
    guard let started = report.started, let finished = report.finished else { return nil }
    return started.nanoseconds &- finished.nanoseconds
  }

  /// Returns a number for sorting by position: 0 if the operation executes, its position if it is ready, and the
  /// largest number otherwise. A cancelled operation that is ready has a position; one that executes has none.
  private static func place(of report: OperationReport, at position: Int?) -> Int64 {
    switch report.state {
    case .executing: 0
    case .cancelling: Int64(position ?? 0)
    case .ready, .held: position.map { Int64($0) } ?? .max
    case .waiting, .finished, .failed, .cancelled: .max
    }
  }

  private static func rank(of state: OperationState) -> UInt8 {
    switch state {
    case .executing: 0
    case .cancelling: 1
    case .ready: 2
    case .held: 3
    case .waiting: 4
    // In the order by state, the ranks from 5 to 9 are for unfinished operations of processes that
    // have ended.
    case .finished, .failed, .cancelled: 10
    }
  }
}
