// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The positions of the columns in the table of operations, if the table has a given width.
struct TableColumns: Sendable, Equatable {
  /// A column of the table of operations.
  enum Column: Sendable, CaseIterable {
    case key, id, process, state, queue, priority, dependencies, time, dependents, title
  }

  /// Whether the table has the column of cancel keys.
  enum KeyColumn: Sendable {
    case never, ifRoom, always
  }

  /// The visible columns and their positions.
  let ranges: [Column: Range<Int>]

  /// The minimum number of cells for the operation's name. Other columns are left out until the name has this
  /// width.
  private static let narrowestTitle = 16

  /// The minimum number of cells for the operation's name if the column of dependents is shown.
  private static let roomyTitle = 22

  /// Computes the positions of the columns. If there is not enough room, columns are left out in this order:
  /// dependents, priority, dependencies, process, queue, key. If `processWidth` is 0, the table has no column
  /// of processes. If `hasPriorities` is `false`, it has no column of priorities.
  init(
    within columns: Range<Int>, idWidth: Int, processWidth: Int = 0, queueWidth: Int,
    keys: KeyColumn = .ifRoom, hasPriorities: Bool = true
  ) {
    let widths: [Column: Int] = [
      .key: CancelKeyColumn.width, .id: max(5, min(idWidth, 21)), .process: processWidth,
      .state: 10,
      .queue: max(6, queueWidth),
      .priority: 5, .dependencies: 6, .time: 6, .dependents: 5,
    ]
    // The margin consists of the mark of the selected row, a space after the mark, and a space before the
    // operation's name.
    let margin = 3
    var present = Column.allCases
    if processWidth == 0 { present.removeAll { $0 == .process } }
    if !hasPriorities { present.removeAll { $0 == .priority } }
    if keys == .never { present.removeAll { $0 == .key } }
    func titleWidth() -> Int {
      columns.count - margin - present.reduce(0) { $0 + (widths[$1].map { $0 + 1 } ?? 0) }
    }
    if titleWidth() < Self.roomyTitle { present.removeAll { $0 == .dependents } }
    for column in [Column.priority, .dependencies, .process, .queue, .key] {
      guard titleWidth() < Self.narrowestTitle, column != .key || keys == .ifRoom else { break }
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
