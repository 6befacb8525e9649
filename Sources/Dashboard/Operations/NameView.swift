// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Draws the window below the rows with the whole name of the selected operation.
struct NameView {
  let dashboard: Dashboard
  let layout: Layout

  /// The maximum number of lines for a name. Longer names are cut.
  private static let mostLines = 12
  /// The minimum number of lines for a name. Without a minimum, the rows of the list would move whenever the
  /// user selects an operation with a shorter name.
  private static let fewestLines = 2

  /// Returns the number of lines of a name on a screen of this width.
  static func lineCount(of name: String, columns: Int) -> Int {
    let text = WrappedText(name, columns: Self.room(columns), lineLimit: mostLines)
    return max(fewestLines, text.lines.count)
  }

  func draw(on canvas: inout Canvas) {
    guard let rows = layout.name, let name = dashboard.wholeName else { return }
    canvas.rule(
      row: rows.lowerBound,
      title: [Span(" \(name.id) ", .strong, isBold: true), Span("\(name.kind) ", .dim)])
    if let pane = layout.pane {
      canvas.put(
        canvas.glyphs.teeUp, row: rows.lowerBound, column: pane.lowerBound - 1, style: Style(.dim))
    }
    let wayOut = [Span(" w", .accent, isBold: true), Span(" closes ")]
    canvas.write(
      wayOut, row: rows.lowerBound, columns: canvas.columns.suffix(11).dropLast())
    let text = WrappedText(
      name.text, columns: Self.room(canvas.columns.count), lineLimit: rows.count - 1,
      style: Style(.strong), isUnicode: canvas.glyphs.isUnicode)
    for (row, line) in zip(rows.dropFirst(), text.lines) {
      canvas.write(line, row: row, column: 1)
    }
  }

  /// Returns the number of columns for the text of the name. One column remains free on each side.
  private static func room(_ columns: Int) -> Int { columns - 2 }
}
