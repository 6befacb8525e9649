// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the number of operations at each distance from the root of a tree, and the states of these
/// operations.
struct LevelsView {
  let scan: GraphScan
  let columns: Range<Int>

  private static let labelWidth = 9
  private static let countWidth = 12

  /// Draws a heading and a row for each distance from the root, in at most `room` rows. Returns the first row
  /// below them.
  func draw(row: Int, room: Int, on canvas: inout Canvas) -> Int {
    guard scan.levels.count > 1, room > 2 else { return row - 1 }
    let more = scan.isCut ? " or more" : ""
    let end = canvas.write(
      "DEPTH \(CountText.text(scan.levels.count - 1))\(more)", row: row, columns: columns,
      style: Style(.dim))
    // The heading of the numbers of finished or cancelled operations, which are at the right end of each row.
    if scan.levels.contains(where: { $0.finished + $0.cancelled > 0 }) {
      canvas.writeRight(
        "finished or cancelled", row: row,
        columns: min(end + 1, columns.upperBound)..<columns.upperBound,
        style: Style(.dim))
    }
    let largest = scan.levels.lazy.map(\.total).max() ?? 1
    let fits = scan.levels.count <= room - 1
    let shown = scan.levels.prefix(fits ? room - 1 : room - 2)
    var next = row + 1
    for (level, counts) in shown.enumerated() {
      draw(counts, level: level, largest: largest, row: next, on: &canvas)
      next += 1
    }
    if !fits {
      let rest = scan.levels.count - shown.count
      canvas.write(
        "+ \(CountText.text(rest, "more level"))", row: next, columns: columns, style: Style(.dim))
      next += 1
    }
    return next
  }

  private func draw(
    _ counts: StateCounts, level: Int, largest: Int, row: Int, on canvas: inout Canvas
  ) {
    canvas.write("L\(level)", row: row, columns: columns, style: Style(.dim))
    canvas.writeRight(
      CountText.text(counts.total, cells: 5), row: row, columns: columns.prefix(Self.labelWidth - 1)
    )
    let room = columns.dropFirst(Self.labelWidth).dropLast(Self.countWidth)
    // A bar has at most one cell for each operation, so that the lengths of the bars can be compared.
    let kinds = ProportionBar.Share.allCases.count { ProportionBar.count(of: $0, in: counts) > 0 }
    let width = min(counts.total, max(kinds, counts.total * room.count / largest))
    var column = room.lowerBound
    for cell in ProportionBar(counts: counts, width: width).cells {
      let end = column + cell.width
      canvas.fill(
        canvas.glyphs.share(of: cell.share), row: row, columns: column..<end,
        style: Style(cell.share.role))
      column = end
    }
    let over = counts.finished + counts.cancelled
    if over > 0 {
      canvas.writeRight(
        CountText.text(over, cells: 5), row: row, columns: columns, style: Style(.dim))
    }
  }
}
