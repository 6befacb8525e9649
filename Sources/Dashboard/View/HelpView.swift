// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Draws the help: every key of the table, and what the words and textures mean.
struct HelpView {
  let dashboard: Dashboard
  let layout: Layout

  /// One line of one column.
  private enum Line {
    case heading(String)
    case binding(KeyBinding)
    case words(String, String)
    case blank
  }

  private static let labelWidth = 14

  /// How many lines the help has on a screen of this width.
  static func lineCount(columns: Int) -> Int { self.columns(for: columns).map(\.count).max() ?? 0 }

  func draw(on canvas: inout Canvas) {
    let sides = Self.columns(for: canvas.columns.count)
    let width = canvas.columns.count / sides.count
    let rows = layout.header + 1..<layout.sentence
    let height = rows.count
    let lineCount = sides.map(\.count).max() ?? 0
    let top = max(0, min(dashboard.helpTop ?? 0, lineCount - height))
    for (side, lines) in sides.enumerated() {
      let columns = side * width + 1..<(side + 1) * width
      for (row, line) in zip(rows, lines.dropFirst(top)) {
        draw(line, row: row, columns: columns, on: &canvas)
      }
    }
    if lineCount > height {
      canvas.write(
        "lines \(top + 1)-\(min(lineCount, top + height)) of \(lineCount), j k scroll",
        row: layout.sentence, columns: canvas.columns.dropFirst(), style: Style(.dim))
    }
  }

  private func draw(_ line: Line, row: Int, columns: Range<Int>, on canvas: inout Canvas) {
    switch line {
    case .blank:
      break
    case .heading(let text):
      canvas.write(text, row: row, columns: columns, style: Style(.strong, isBold: true))
    case .binding(let binding):
      let isRefused = binding.changesProcess && dashboard.isReadOnly
      let help = isRefused ? "(read-only) \(binding.help)" : binding.help
      draw(
        Span(binding.label, isRefused ? .dim : .accent), Span(help, isRefused ? .dim : .text),
        row: row, columns: columns, on: &canvas)
    case .words(let label, let text):
      draw(Span(label), Span(text, .dim), row: row, columns: columns, on: &canvas)
    }
  }

  private func draw(
    _ label: Span, _ text: Span, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    canvas.write([label], row: row, columns: columns.prefix(Self.labelWidth - 1))
    canvas.write([text], row: row, columns: columns.dropFirst(Self.labelWidth))
  }

  private static func columns(for width: Int) -> [[Line]] {
    let left = lines(of: .moving) + [.blank] + lines(of: .acting)
    let right = lines(of: .looking) + [.blank] + lines(of: .program)
    return width >= 80
      ? [left + [.blank] + legend, right] : [left + [.blank] + right + [.blank] + legend]
  }

  private static func lines(of group: KeyBinding.Group) -> [Line] {
    [.heading(group.rawValue)]
      + KeyTable.bindings.filter { $0.group == group }.map { .binding($0) }
  }

  private static let legend: [Line] = [
    .heading("Words"),
    .words("held", "ready, but queue suspended"),
    .words("cancelling", "asked, not over yet"),
    .words("TIME", "in state; over: time it ran"),
  ]
}
