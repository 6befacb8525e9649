// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Draws the setup: the settings, the chooser of columns and, if there is room, a preview of the list.
struct SetupView {
  let dashboard: Dashboard
  let layout: Layout
  let state: SetupState

  /// The number of cells before the value of a setting.
  private static let labelWidth = 12
  /// The number of cells of the names of columns.
  private static let nameWidth = 14
  /// The number of cells of the widths of columns.
  private static let widthWidth = 4
  /// The minimum width of a chooser with a sentence about each column.
  private static let meaningThreshold = 50

  func draw(on canvas: inout Canvas) {
    let places = SetupPlaces(layout, side: state.side)
    if let columns = places.settings { drawSettings(places.rows, columns, on: &canvas) }
    if let columns = places.chooser { drawChooser(places.rows, columns, on: &canvas) }
    if let row = places.previewRule { drawPreview(rule: row, on: &canvas) }
    guard layout.sentence != layout.prompt || dashboard.screen.notice == nil else { return }
    canvas.write(sentence, row: layout.sentence, columns: canvas.columns.dropFirst())
    guard let row = layout.status else { return }
    canvas.write([unsavedWords(in: canvas)], row: row, columns: canvas.columns.dropFirst())
  }

  // MARK: Settings

  private func drawSettings(
    _ rows: Range<Int>, _ columns: Range<Int>, on canvas: inout Canvas
  ) {
    drawTitle("SETTING", "VALUE", at: Self.labelWidth, .settings, columns, on: &canvas)
    let lines = state.setting.visible(of: SetupState.keys.count, height: rows.count)
    for (row, index) in zip(rows, lines.compactMap { $0 }) {
      let key = SetupState.keys[index]
      canvas.mark(.line(.setting(key)), row: row, columns: columns)
      let isUnsaved = dashboard.unsavedSettings.contains(key)
      let text = columns.dropFirst(2)
      canvas.write(
        key.rawValue, row: row, columns: text.prefix(Self.labelWidth - 3), style: Style(.strong))
      if isUnsaved {
        drawUnsavedMark(row: row, column: columns.lowerBound + Self.labelWidth - 2, &canvas)
      }
      canvas.write(
        dashboard.words(for: key), row: row, columns: columns.dropFirst(Self.labelWidth).dropLast())
      guard index == state.setting.number, state.side == .settings else { continue }
      select(row: row, columns, on: &canvas)
    }
    drawValues(in: rows.dropFirst(lines.count + 1), columns, on: &canvas)
  }

  /// Draws the values that the selected setting can have.
  private func drawValues(
    in rows: Range<Int>, _ columns: Range<Int>, on canvas: inout Canvas
  ) {
    guard !rows.isEmpty else { return }
    let key = state.side == .settings ? state.selectedKey : .columns
    let columns = columns.dropFirst(2).dropLast(2)
    let text = WrappedText(
      "The key in the settings file is \(key.rawValue). \(key.values)", columns: columns.count,
      lineLimit: rows.count,
      style: Style(.dim), isUnicode: canvas.glyphs.isUnicode)
    for (row, line) in zip(rows, text.lines) {
      canvas.write(line, row: row, column: columns.lowerBound)
    }
  }

  // MARK: Columns

  private func drawChooser(
    _ rows: Range<Int>, _ columns: Range<Int>, on canvas: inout Canvas
  ) {
    let widthStart = 6 + Self.nameWidth
    drawTitle("    COLUMN", "WIDTH", at: widthStart, .columns, columns, on: &canvas)
    if dashboard.unsavedSettings.contains(.columns) {
      drawUnsavedMark(row: layout.headings, column: columns.lowerBound + 13, &canvas)
    }
    let lines = state.column.visible(of: SetupState.columnRowCount, height: rows.count)
    for (row, index) in zip(rows, lines.compactMap { $0 }) {
      let column = index == 0 ? nil : state.order[index - 1]
      canvas.mark(.line(.column(column)), row: row, columns: columns)
      draw(column, row: row, columns, on: &canvas)
      guard index == state.column.number, state.side == .columns else { continue }
      select(row: row, columns, on: &canvas)
    }
  }

  private func draw(
    _ column: ColumnSetting.Column?, row: Int, _ columns: Range<Int>, on canvas: inout Canvas
  ) {
    let isOn = column.map { state.shown.contains($0) } ?? state.isAutomatic
    let style = Style(isOn ? .text : .dim)
    canvas.write(isOn ? "[x]" : "[ ]", row: row, columns: columns.dropFirst(2), style: style)
    let room = columns.dropFirst(6).dropLast()
    guard let column else {
      canvas.write("automatic choice", row: row, columns: room, style: style)
      return
    }
    canvas.write(column.rawValue, row: row, columns: room.prefix(Self.nameWidth), style: style)
    let width = room.dropFirst(Self.nameWidth)
    canvas.writeRight(
      state.widths[column].map { "\($0)" } ?? "auto", row: row,
      columns: width.prefix(Self.widthWidth), style: style)
    guard columns.count >= Self.meaningThreshold else { return }
    canvas.write(
      column.meaning, row: row, columns: width.dropFirst(Self.widthWidth + 2), style: Style(.dim))
  }

  // MARK: Parts of both sides

  private func drawTitle(
    _ left: String, _ right: String, at offset: Int, _ side: SetupState.Side,
    _ columns: Range<Int>, on canvas: inout Canvas
  ) {
    let isActive = state.side == side
    let style = isActive ? Style(.strong, isBold: true) : Style(.dim)
    canvas.write(left, row: layout.headings, columns: columns.dropFirst(2), style: style)
    canvas.write(right, row: layout.headings, columns: columns.dropFirst(offset), style: style)
  }

  private func drawUnsavedMark(row: Int, column: Int, _ canvas: inout Canvas) {
    canvas.put("*", row: row, column: column, style: Style(.accent))
  }

  private func select(row: Int, _ columns: Range<Int>, on canvas: inout Canvas) {
    canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    canvas.select(row: row, columns: columns)
  }

  /// Draws the list with the columns of the chooser. No row of it is selected. The columns are never chosen
  /// automatically, because the list can be narrower than the preview.
  private func drawPreview(rule row: Int, on canvas: inout Canvas) {
    canvas.rule(row: row, title: [Span(" the list ", .dim)])
    var dashboard = dashboard
    dashboard.list.selection = ListSelection()
    dashboard.settings.columns = state.listed
    OperationTableView(dashboard: dashboard, layout: layout.movingHeadings(to: row + 1))
      .draw(on: &canvas)
    canvas.ignoreMouse(rows: row..<layout.body.upperBound)
  }

  /// A sentence about the selected row.
  private var sentence: [Span] {
    switch state.side {
    case .settings:
      let key = state.selectedKey
      return [Span("\(key.rawValue) ", .strong, isBold: true), Span(key.meaning)]
    case .columns:
      guard let column = state.selectedColumn else {
        return [
          Span("automatic ", .strong, isBold: true),
          Span("the width of the screen determines the columns"),
        ]
      }
      return [Span("\(column.rawValue) ", .strong, isBold: true), Span(column.meaning)]
    }
  }

  /// The names of the settings that are not saved.
  private func unsavedWords(in canvas: Canvas) -> Span {
    let keys = DashboardSettings.Key.allCases.filter { dashboard.unsavedSettings.contains($0) }
    guard !keys.isEmpty else {
      return Span("All changes but view have an effect at once.", .dim)
    }
    let words = "not saved: \(keys.map(\.rawValue).joined(separator: ", "))"
    let remark = " (saving removes comments from the file)"
    let hasRoom = canvas.glyphs.width(of: words + remark) < canvas.columns.count
    return Span(hasRoom ? words + remark : words, .warning)
  }
}
