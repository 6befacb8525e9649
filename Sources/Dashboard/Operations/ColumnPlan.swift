// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The positions of the columns in the table of operations, if the table has a given width.
struct ColumnPlan: Sendable, Equatable {
  /// A column of the table of operations.
  typealias Column = ColumnSetting.Column

  /// Whether the table has the column of cancel keys.
  enum KeyColumn: Sendable {
    case never, ifRoom, always
  }

  /// The facts on which the columns depend.
  struct Facts: Sendable, Equatable {
    /// The number of cells of the longest id.
    var idWidth: Int
    /// The number of cells for the name of a process; 0 if the table has no column of processes.
    var processWidth = 0
    /// The number of cells of the longest name of a queue.
    var queueWidth: Int
    /// Whether the table has the column of cancel keys.
    var keys = KeyColumn.ifRoom
    /// Whether the table has the column of priorities.
    var hasPriorities = true
  }

  /// The visible columns and their positions.
  let ranges: [Column: Range<Int>]

  /// The minimum number of cells for the operation's name. Other columns are left out until the name has this
  /// width.
  private static let narrowestTitle = 16

  /// The minimum number of cells for the operation's name if the column of dependents is shown.
  private static let roomyTitle = 22

  /// The columns that the dashboard can choose, in the order of the table.
  private static let automatic: [Column] = [
    .key, .id, .process, .state, .queue, .priority, .dependencies, .time, .dependents, .name,
  ]

  /// Computes the positions of the columns. If there is not enough room, columns are left out in this order:
  /// dependents, priority, dependencies, process, queue, key.
  ///
  /// - Parameters:
  ///   - columns: The columns of the screen that the table has.
  ///   - facts: The facts on which the columns depend.
  ///   - chosen: The columns that the user has chosen; `nil` if the user has chosen none. They have no effect yet.
  init(within columns: Range<Int>, _ facts: Facts, _ chosen: [ColumnSetting]? = nil) {
    let widths: [Column: Int] = [
      .key: CancelKeyColumn.width, .id: max(5, min(facts.idWidth, 21)),
      .process: facts.processWidth, .state: 10, .queue: max(6, facts.queueWidth),
      .priority: 5, .dependencies: 6, .time: 6, .dependents: 5,
    ]
    // The margin consists of the mark of the selected row, a space after the mark, and a space before the
    // operation's name.
    let margin = 3
    var present = Self.automatic
    if facts.processWidth == 0 { present.removeAll { $0 == .process } }
    if !facts.hasPriorities { present.removeAll { $0 == .priority } }
    if facts.keys == .never { present.removeAll { $0 == .key } }
    func titleWidth() -> Int {
      columns.count - margin - present.reduce(0) { $0 + (widths[$1].map { $0 + 1 } ?? 0) }
    }
    if titleWidth() < Self.roomyTitle { present.removeAll { $0 == .dependents } }
    for column in [Column.priority, .dependencies, .process, .queue, .key] {
      guard titleWidth() < Self.narrowestTitle, column != .key || facts.keys == .ifRoom
      else { break }
      present.removeAll { $0 == column }
    }
    var ranges: [Column: Range<Int>] = [:]
    var next = columns.lowerBound + 2
    for column in present {
      if let width = widths[column] {
        ranges[column] = next..<next + width
        next += width + 1
      } else {
        next += 1
        ranges[column] = min(next, columns.upperBound)..<columns.upperBound
      }
    }
    self.ranges = ranges
  }

  /// Returns the position of a column; `nil` if the column is not visible.
  subscript(column: Column) -> Range<Int>? { ranges[column] }
}
