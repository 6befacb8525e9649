// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the column with the cancel keys, in the list or beside the tree. If commands are refused, the column
/// is blank.
struct CancelKeyColumn {
  let dashboard: Dashboard
  /// The screen columns in which the cancel keys are drawn.
  let columns: Range<Int>

  /// The number of letters of the longest cancel key.
  static let width = 2

  /// The screen columns of the heading `KEY`, which is one cell wider than the column of cancel keys. It also covers the
  /// space after the column.
  var heading: Range<Int> { columns.lowerBound..<columns.upperBound + 1 }

  func drawHeading(row: Int, on canvas: inout Canvas) {
    guard dashboard.hasCancelKeys else { return }
    canvas.write("KEY", row: row, columns: heading, style: Style(.dim))
  }

  /// Draws the cancel key of an operation. An operation that cannot be cancelled has none.
  func draw(_ id: OperationReport.ID, row: Int, on canvas: inout Canvas) {
    let keys = dashboard.list.cancelKeys
    guard dashboard.hasCancelKeys, let key = keys.key(of: id) else { return }
    let isArmed = keys.isArmed && dashboard.prompts.question == nil
    canvas.writeRight(
      key, row: row, columns: columns,
      style: isArmed ? Style(.accent, isReversed: true, isBold: true) : Style(.dim))
  }
}
