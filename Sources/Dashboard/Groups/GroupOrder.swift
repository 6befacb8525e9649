// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The order of the groups of operations.
struct GroupOrder: Sendable, Equatable {
  /// The value by which groups are ordered. The largest number is in the first row. A group without the value is in
  /// the last row.
  enum Column: Sendable, CaseIterable {
    case unfinished, name, executing, ready, waiting, finished, failed, cancelled, rate
    case medianWait, longestWait, medianRun, longestRun
  }

  /// The value by which groups are ordered.
  var column = Column.unfinished
  /// Whether the order is reversed.
  var isReversed = false

  /// Whether the smallest value is in the first row.
  var isAscending: Bool { (column == .name) != isReversed }

  /// The name of the column, and a remark if the order is reversed.
  var words: String { isReversed ? "\(column.words), reversed" : column.words }

  /// Sorts by the column at this distance to the right of the present one, in the natural order of the column. The
  /// first column follows the last one.
  mutating func moveColumn(by offset: Int) {
    let columns = Column.allCases
    guard let index = columns.firstIndex(of: column) else { return }
    self = GroupOrder(column: columns[(index + offset + columns.count) % columns.count])
  }

  /// Returns the groups in this order. Equal groups are ordered by the number of unfinished operations, then by name.
  func sorted(
    _ groups: [OperationGroups.Group], in monitored: MonitoredState
  ) -> [OperationGroups.Group] {
    let rows = groups.map { group in
      Row(
        group: group, value: column.value(of: group, in: monitored),
        unfinished: group.counts.unfinished, name: monitored.title(of: group.key))
    }
    return rows.sorted { isBefore($0, $1) }.map(\.group)
  }

  private struct Row {
    let group: OperationGroups.Group
    let value: Double?
    let unfinished: Int
    let name: String
  }

  private func isBefore(_ left: Row, _ right: Row) -> Bool {
    if column != .name, left.value != right.value {
      guard let leftValue = left.value, let rightValue = right.value else {
        return left.value != nil
      }
      return (leftValue > rightValue) != isReversed
    }
    if column != .name, left.unfinished != right.unfinished {
      return left.unfinished > right.unfinished
    }
    if left.name != right.name {
      return (left.name < right.name) != (column == .name && isReversed)
    }
    return left.group.key.queueID < right.group.key.queueID
  }
}

extension GroupOrder.Column {
  /// The name of the column for use in a title.
  var words: String {
    switch self {
    case .unfinished: "unfinished"
    case .name: "name"
    case .executing: "executing"
    case .ready: "ready"
    case .waiting: "waiting"
    case .finished: "finished"
    case .failed: "failed"
    case .cancelled: "cancelled"
    case .rate: "rate"
    case .medianWait: "slot wait p50"
    case .longestWait: "slot wait p99"
    case .medianRun: "run p50"
    case .longestRun: "run p99"
    }
  }

  /// Returns the value by which a group is sorted; `nil` if the value is unknown, or if groups are sorted by name.
  fileprivate func value(of group: OperationGroups.Group, in monitored: MonitoredState) -> Double? {
    if let count = count(group.counts) { return Double(count) }
    if self == .rate { return monitored.groupHistories[group.key]?.rate }
    return time(group.times).map { $0 / .seconds(1) }
  }

  /// Returns the number of operations in the state of the column; `nil` if the column shows no number of operations.
  func count(_ counts: StateCounts) -> Int? {
    switch self {
    case .unfinished: counts.unfinished
    case .executing: counts.executing
    case .ready: counts.ready
    case .waiting: counts.waiting
    case .finished: counts.finished
    case .failed: counts.failed
    case .cancelled: counts.cancelled
    case .name, .rate, .medianWait, .longestWait, .medianRun, .longestRun: nil
    }
  }

  /// Returns the time of the column; `nil` if it is unknown, or if the column shows no time.
  func time(_ times: TimeStatistics) -> Duration? {
    switch self {
    case .medianWait: times.wait?.p50
    case .longestWait: times.wait?.p99
    case .medianRun: times.run?.p50
    case .longestRun: times.run?.p99
    case .unfinished, .name, .executing, .ready, .waiting, .finished, .failed, .cancelled, .rate:
      nil
    }
  }
}

extension OperationGroups.Key {
  /// A number that orders groups with the same name: the id of the queue, or 0.
  fileprivate var queueID: UInt64 {
    if case .queue(let id) = self { id.rawValue } else { 0 }
  }
}

extension MonitoredState {
  /// Returns the name of a group, unsanitised: its kind, or the name of its queue.
  func title(of key: OperationGroups.Key) -> String {
    switch key {
    case .kind(let kind): kind.isEmpty ? "(no kind)" : kind
    case .queue(let id): queue(id)?.label ?? "(unknown queue)"
    }
  }
}
