// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the list of warnings, one warning in each row. The header of the dashboard shows the
/// number of warnings.
struct WarningListView {
  let dashboard: Dashboard
  let layout: Layout
  let state: WarningListState

  func draw(on canvas: inout Canvas) {
    canvas.write(
      "WARNING", row: layout.headings, columns: canvas.columns.dropFirst(2), style: Style(.dim))
    let warnings = dashboard.shown.warnings
    if warnings.isEmpty {
      canvas.write(
        "no warnings", row: layout.body.lowerBound, columns: canvas.columns.dropFirst(2),
        style: Style(.dim))
    }
    let text = WarningText(dashboard: dashboard, glyphs: canvas.glyphs)
    let selected = state.index(in: warnings)
    for (row, index) in zip(layout.body, state.lines(of: warnings, height: layout.bodyHeight)) {
      guard let index else {
        drawGhost(row: row, on: &canvas)
        continue
      }
      let target = ScreenRegions.Target.line(.warning(WarningIdentity(warnings[index])))
      canvas.mark(target, row: row, columns: canvas.columns)
      draw(warnings[index], text, isSelected: index == selected, row: row, on: &canvas)
    }
    if let warning = dashboard.selectedWarning, dashboard.screen.helpTop == nil {
      canvas.write(
        [
          Span("\(warning.kind.rawValue) ", .strong, isBold: true),
          Span("\(canvas.glyphs.arrow) \(text.wayOut(warning))"),
        ], row: layout.sentence, columns: canvas.columns.dropFirst())
    }
  }

  private func draw(
    _ warning: MonitorWarning, _ text: WarningText, isSelected: Bool, row: Int,
    on canvas: inout Canvas
  ) {
    let room = canvas.columns.dropFirst(2)
    let label = warning.isDeadlock ? "DEADLOCK " : ""
    let candidates = [text.sentence(warning), text.shortSentence(warning)]
    let sentence =
      candidates.first { canvas.glyphs.width(of: label + $0) <= room.count } ?? candidates[1]
    canvas.write(
      [Span(label, .warning, isBold: true), Span(sentence, isSelected ? .strong : .text)],
      row: row, columns: room)
    guard isSelected else { return }
    canvas.write(
      canvas.glyphs.selection, row: row, columns: canvas.columns, style: Style(.accent))
    canvas.select(row: row, columns: canvas.columns)
  }

  /// Draws the line that stands for the selected warning after this warning has ended.
  private func drawGhost(row: Int, on canvas: inout Canvas) {
    canvas.writeGhost(row: row, columns: canvas.columns)
    canvas.write(
      "the selected warning no longer exists", row: row, columns: canvas.columns.dropFirst(2),
      style: Style(.strong))
  }
}
