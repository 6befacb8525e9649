// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The list's rows of operations that the user has cancelled. If such an operation changes its state, its row
/// stays at its place for 2 s with a mark, so that the user sees the result of the command. The row does not move while
/// the display is paused.
struct CancelledRows: Sendable {
  private struct Row {
    /// The place of the row in the order of the list.
    var key: SortKey
    var state: OperationState
    /// The time until which the row stays at its place; `nil` if the operation has not changed its state.
    var end: MonitorTime?
  }

  /// How long a row stays at its place.
  static let restingTime = Duration.seconds(2)

  private var rows: [OperationReport.ID: Row] = [:]

  /// The operations of the rows.
  var ids: Set<OperationReport.ID> { Set(rows.keys) }

  /// The next time at which a row moves; `nil` if no row has to move.
  var nextMove: MonitorTime? { rows.values.lazy.compactMap(\.end).min() }

  /// Returns the place at which an operation's row stays; `nil` if the row does not stay at its place.
  func key(of id: OperationReport.ID) -> SortKey? {
    rows[id].flatMap { $0.end == nil ? nil : $0.key }
  }

  /// Notes that the user has requested to cancel these operations. Operations without a row are ignored.
  mutating func note(
    _ ids: [OperationReport.ID], in listed: ListRows, of monitored: MonitoredState
  ) {
    for id in ids {
      guard let index = listed.index(of: id), let report = monitored.operations[id] else {
        continue
      }
      rows[id] = Row(key: listed.keys[index], state: report.state)
    }
  }

  /// Begins the time of rows whose operations have changed their state, and removes rows whose time is over.
  mutating func settle(with monitored: MonitoredState, at now: MonitorTime) {
    for (id, row) in rows {
      guard let report = monitored.operations[id] else {
        rows[id] = nil
        continue
      }
      if report.state != row.state {
        // An operation that finished without a cancellation moves at once.
        let isCancelled = report.state == .cancelling || report.state == .cancelled
        rows[id] = isCancelled ? row : nil
        rows[id]?.state = report.state
        rows[id]?.end = now + Self.restingTime
      } else if let end = row.end, end <= now {
        rows[id] = nil
        // A cancelling operation will change its state again.
        if !report.state.isOver { rows[id] = Row(key: row.key, state: report.state) }
      }
    }
  }

  /// Notes the places of rows that may still move.
  mutating func follow(_ listed: ListRows) {
    for (id, row) in rows where row.end == nil {
      if let index = listed.index(of: id) { rows[id]?.key = listed.keys[index] }
    }
  }

  /// Lets all rows move, because the order or the contents of the list have changed.
  mutating func removeAll() { rows = [:] }
}
