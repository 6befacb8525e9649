// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the tree view: its title, the rows on the screen, and the cursor.
struct TreeView {
  let dashboard: Dashboard
  let layout: Layout
  let tree: TreeState

  func draw(on canvas: inout Canvas) {
    // While the cancel keys are active, they have a column beside the tree.
    let start = layout.table.lowerBound + 1
    let keys = CancelKeyColumn(
      dashboard: dashboard, columns: start..<start + CancelKeyColumn.width)
    let hasKeys = dashboard.list.cancelKeys.isArmed
    if hasKeys { keys.drawHeading(row: layout.headings, on: &canvas) }
    let view = TreeRowView(
      monitored: dashboard.shown, now: dashboard.shownTime,
      columns: layout.rowText.dropFirst(hasKeys ? 3 + CancelKeyColumn.width : 1),
      form: .table(below: tree.below), focus: tree.focus)
    view.drawHeadings(title.spans(canvas.glyphs), row: layout.headings, on: &canvas)
    let window = tree.window(height: layout.bodyHeight)
    let ghostRow = window.ghostLine.map { layout.body.lowerBound + $0 }
    if let ghostRow { drawGhost(row: ghostRow, names: view.treeColumns, on: &canvas) }
    let screenRows = layout.body.filter { $0 != ghostRow }
    if tree.tree.rows.isEmpty, let row = screenRows.first { drawEmpty(row: row, on: &canvas) }
    for (row, treeRow) in zip(screenRows, tree.tree.rows[window.indexes]) {
      canvas.mark(.line(.treeRow(treeRow.id)), row: row, columns: layout.table)
      view.draw(treeRow, row: row, on: &canvas)
      if hasKeys, case .node(let id) = treeRow.id { keys.draw(id, row: row, on: &canvas) }
      if treeRow.id == tree.cursor, !tree.isGhost {
        canvas.write(
          canvas.glyphs.selection, row: row, columns: layout.table, style: Style(.accent))
        canvas.select(row: row, columns: layout.table)
      }
    }
  }

  private var title: TreeTitle {
    TreeTitle(
      tree: tree.tree, rootCount: dashboard.shown.rootCount,
      filter: dashboard.list.listing.filter?.text,
      matchCounts: (known: dashboard.list.rows.matchCount, all: dashboard.matchCount))
  }

  /// Draws the cursor at the former line of the selected row, and the reason why the row is not in the tree. The
  /// text begins at the names of the operations if it has room there.
  private func drawGhost(row: Int, names: Range<Int>, on canvas: inout Canvas) {
    canvas.writeGhost(row: row, columns: layout.table)
    let id = tree.selectedOperation
    let reason = id.map { dashboard.whyNoRow($0, otherwise: "not in this tree") }
    let words =
      "selected row: \(reason ?? "no longer in the tree") \(canvas.glyphs.dot) g: first row"
    let width = words.unicodeScalars.count + (id.map { "\($0) ".unicodeScalars.count } ?? 0)
    let room = width <= names.count ? names : layout.table.dropFirst(2)
    var start = room.lowerBound
    if let id, width <= room.count {
      start = canvas.write("\(id) ", row: row, columns: room, style: Style(.dim))
    }
    canvas.write(words, row: row, columns: start..<room.upperBound, style: Style(.strong))
  }

  private func drawEmpty(row: Int, on canvas: inout Canvas) {
    let text =
      dashboard.list.listing.filter == nil
      ? "no unfinished operations"
      : "no operation in the tree matches the filter; press \\ to change it"
    canvas.write(text, row: row, columns: layout.table.dropFirst(2), style: Style(.dim))
  }
}
