// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the table of operations. It reads only the rows on the screen.
struct OperationTableView {
  let dashboard: Dashboard
  let layout: Layout

  func draw(on canvas: inout Canvas) {
    let process = processColumn(canvas.glyphs)
    let columns = columns(process, canvas.glyphs)
    drawHeadings(columns, process: process.title, on: &canvas)
    let list = dashboard.list
    let window = list.selection.window(in: list.rows, height: layout.bodyHeight)
    let keys = list.rows.keys[window.indexes]
    let ghostRow = window.ghostLine.map { layout.body.lowerBound + $0 }
    if let ghostRow { drawGhost(columns, row: ghostRow, on: &canvas) }
    let rows = layout.body.filter { $0 != ghostRow }
    if keys.isEmpty, let row = rows.first { drawEmpty(row: row, on: &canvas) }
    for (row, key) in zip(rows, keys) {
      canvas.mark(.line(.operation(key.id)), row: row, columns: layout.table)
      guard let report = monitored.operations[key.id] else { continue }
      draw(report, columns, process, row: row, on: &canvas)
    }
  }

  var monitored: MonitoredState { dashboard.shown }

  /// Returns the columns of the table and their positions.
  func columns(_ glyphs: Glyphs) -> ColumnPlan { columns(processColumn(glyphs), glyphs) }

  private func processColumn(_ glyphs: Glyphs) -> ProcessColumn {
    ProcessColumn(monitored.processes, glyphs: glyphs, limit: layout.table.count >= 100 ? 14 : 9)
  }

  private func columns(_ process: ProcessColumn, _ glyphs: Glyphs) -> ColumnPlan {
    let contents = monitored.columnContents
    let facts = ColumnPlan.Facts(
      idWidth: "\(monitored.operations.largestID)".utf8.count, processWidth: process.width,
      queueWidth: queueWidth(glyphs), kindWidth: contents.kindWidth, keys: keyColumn,
      hasPriorities: dashboard.list.hasPriorities,
      isSortedByPosition: dashboard.list.listing.order.column == .position,
      hasQualities: contents.hasQualities, hasProgress: contents.hasProgress,
      hasErrors: contents.hasErrors, hasLongNames: contents.hasLongNames)
    return ColumnPlan(within: layout.table, facts, dashboard.settings.columns)
  }

  /// Whether the table has the column of cancel keys. It always has the column while the keys are active.
  private var keyColumn: ColumnPlan.KeyColumn {
    guard dashboard.hasCancelKeyColumn else { return .never }
    return dashboard.list.cancelKeys.isArmed ? .always : .ifRoom
  }

  private func queueWidth(_ glyphs: Glyphs) -> Int {
    let limit = layout.table.count >= 100 ? 14 : 8
    return monitored.queues.prefix(64).map { glyphs.width(of: $0.name, limit: limit) }
      .max() ?? 0
  }

  private func drawHeadings(
    _ columns: ColumnPlan, process: String, on canvas: inout Canvas
  ) {
    let style = Style(.dim)
    let row = layout.headings
    let order = dashboard.list.listing.order
    let mark = order.isAscending ? canvas.glyphs.ascending : canvas.glyphs.descending
    func heading(_ text: String, _ column: ColumnPlan.Column) -> (String, Style) {
      order.column.shownIn == column
        ? (text + mark, Style(.strong, isBold: true)) : (text, style)
    }
    func left(_ text: String, _ column: ColumnPlan.Column) {
      guard let range = columns[column] else { return }
      canvas.mark(.heading(column), row: row, columns: range)
      let (text, style) = heading(text, column)
      canvas.write(text, row: row, columns: range, style: style)
    }
    func right(_ text: String, _ column: ColumnPlan.Column) {
      guard let range = columns[column] else { return }
      canvas.mark(.heading(column), row: row, columns: range)
      let (text, style) = heading(text, column)
      canvas.writeRight(text, row: row, columns: range, style: style)
    }
    if let range = columns[.key] {
      let keys = CancelKeyColumn(dashboard: dashboard, columns: range)
      keys.drawHeading(row: row, on: &canvas)
      if dashboard.hasCancelKeys {
        canvas.mark(.heading(.key), row: row, columns: keys.heading)
      }
    }
    right("ID", .id)
    left(process, .process)
    left("STATE", .state)
    left("QUEUE", .queue)
    left("PRI", .priority)
    left("QOS", .quality)
    right("POS", .position)
    right("DEPS", .dependencies)
    right("TIME", .time)
    right("BLKS", .dependents)
    left("KIND", .kind)
    left("PROGRESS", .progress)
    left("OPERATION", .name)
    let hasErrors = monitored.columnContents.hasErrors || !columns.sharesErrors
    let progress = columns.sharesErrors ? hasErrors ? "PROGRESS, " : "PROGRESS" : ""
    left(progress + (hasErrors ? "ERROR" : ""), .error)
  }

  private func draw(
    _ report: OperationReport, _ columns: ColumnPlan, _ process: ProcessColumn, row: Int,
    on canvas: inout Canvas
  ) {
    // If the operation's process sends no updates, the row is drawn like the row of a finished operation.
    let isMarked = dashboard.list.cancelledRows.key(of: report.id) != nil
    let isOver = !isMarked && report.state.isOver || monitored.isGone(report.id)
    let quiet = Style(isOver ? .dim : .text)
    let isSelected = report.id == dashboard.list.selection.id
    drawMarks(of: report, key: columns[.key], isSelected, row: row, on: &canvas)
    if let range = columns[.id] {
      let style = isSelected ? Style(.strong, isBold: true) : quiet
      canvas.writeRight("\(report.id)", row: row, columns: range, style: style)
    }
    if let range = columns[.process] {
      canvas.write(process[report.id], row: row, columns: range, style: quiet)
    }
    if let range = columns[.state] {
      canvas.write(
        report.state.rawValue, row: row, columns: range,
        style: Style(report.state.role, isBold: isMarked))
    }
    if let range = columns[.queue] {
      let name = monitored.queue(report.queue)?.name ?? canvas.glyphs.unknown
      canvas.write(name, row: row, columns: range, style: quiet)
    }
    if let range = columns[.priority] {
      let style = report.priority == .normal ? Style(.dim) : quiet
      canvas.write(report.priority.shortWord, row: row, columns: range, style: style)
    }
    if let range = columns[.dependencies] {
      canvas.writeRight(DependencyText.met(report), row: row, columns: range, style: quiet)
    }
    if let range = columns[.time] {
      let time = report.timeText(at: monitored.moment(for: report.id, at: dashboard.shownTime))
      canvas.writeRight(time ?? canvas.glyphs.unknown, row: row, columns: range, style: quiet)
    }
    if let range = columns[.dependents], report.dependentCount > 0 {
      canvas.writeRight(
        CountText.text(report.dependentCount, cells: range.count), row: row, columns: range,
        style: quiet)
    }
    drawFurther(report, columns, row: row, style: quiet, on: &canvas)
    drawName(of: report, columns, row: row, style: quiet, isOver, on: &canvas)
    if isSelected { canvas.select(row: row, columns: layout.table) }
  }

  /// Draws the name of an operation, with its progress unless another column shows it, and with remarks.
  private func drawName(
    of report: OperationReport, _ columns: ColumnPlan, row: Int, style quiet: Style,
    _ isOver: Bool, on canvas: inout Canvas
  ) {
    guard let whole = columns[.name]?.clamped(to: layout.rowText) else { return }
    let hasProgress =
      columns[.progress] != nil || columns.sharesErrors && columns[.error] != nil
    let range =
      hasProgress ? whole : drawProgress(of: report, row: row, columns: whole, on: &canvas)
    // If an operation has no name, the row shows its kind in brackets.
    let isNamed = !report.name.isEmpty
    let title = isNamed ? report.name : "(\(report.kind))"
    // The first cell of a scrolled name shows that the beginning is left out.
    let offset = dashboard.list.titleOffset
    let text = title.clipped(from: offset == 0 ? 0 : offset + 1, toFill: range.count)
    let cutMark = canvas.glyphs.isUnicode ? "…" : "~"
    let style = Style(
      isNamed ? quiet.role : .dim, isBold: isNamed && report.state == .executing && !isOver)
    let end = canvas.write(
      offset == 0 ? text : cutMark + text, row: row, columns: range, style: style)
    drawRemarks(about: report, row: row, columns: end..<range.upperBound, on: &canvas)
  }

  /// Draws the columns that only a wide table has, unless the user has chosen columns.
  private func drawFurther(
    _ report: OperationReport, _ columns: ColumnPlan, row: Int, style: Style,
    on canvas: inout Canvas
  ) {
    if let range = columns[.quality] {
      let word = report.qualityOfService.shortWord
      canvas.write(
        word ?? canvas.glyphs.unknown, row: row, columns: range,
        style: word == nil ? Style(.dim) : style)
    }
    if let range = columns[.position], let text = PositionText(report, in: monitored) {
      canvas.writeRight(text.cell, row: row, columns: range, style: style)
    }
    if let range = columns[.kind]?.clamped(to: layout.rowText) {
      let kind = report.kind.clipped(from: 0, toFill: range.count)
      canvas.write(kind, row: row, columns: range, style: style)
    }
    let progressColumn = columns[.progress] ?? (columns.sharesErrors ? columns[.error] : nil)
    if let range = progressColumn?.clamped(to: layout.rowText), !report.state.isOver,
      let text = ProgressText(report, in: monitored, at: dashboard.shownTime)
    {
      canvas.write(text.spans(cells: range.count, glyphs: canvas.glyphs), row: row, columns: range)
    }
    if let range = columns[.error]?.clamped(to: layout.rowText) {
      let words =
        report.errorText ?? monitored.cancellationWords(about: report, canvas.glyphs) ?? ""
      canvas.write(words.clipped(from: 0, toFill: range.count), row: row, columns: range)
    }
  }

  /// Draws the progress of an unfinished operation at the end of its row. Returns the columns before it.
  private func drawProgress(
    of report: OperationReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) -> Range<Int> {
    guard !report.state.isOver,
      let text = ProgressText(report, in: monitored, at: dashboard.shownTime)
    else { return columns }
    let (spans, width) = text.rowSpans(room: columns.count, glyphs: canvas.glyphs)
    guard width > 0 else { return columns }
    canvas.write(spans, row: row, columns: columns.upperBound - width..<columns.upperBound)
    return columns.lowerBound..<columns.upperBound - width - 1
  }

  /// Draws the number of the attempt of a retry or the time left of a delay, and the status of an unfinished
  /// operation, after its name, if there is room.
  private func drawRemarks(
    about report: OperationReport, row: Int, columns: Range<Int>, on canvas: inout Canvas
  ) {
    let now = monitored.moment(for: report.id, at: dashboard.shownTime)
    var room = columns.dropFirst(2)
    let words =
      (AttemptText(report, at: now)?.rowWords ?? [])
      + (DelayText(report, at: now)?.rowWords ?? [])
    if let words = words.first(where: { $0.utf8.count <= room.count }) {
      let end = canvas.write(words, row: row, columns: room, style: Style(.dim))
      room = (end..<max(end, room.upperBound)).dropFirst(2)
    }
    guard let status = report.statusText, !report.state.isOver, room.count >= 4 else { return }
    canvas.write(
      status.clipped(from: 0, toFill: room.count), row: row, columns: room, style: Style(.dim))
  }

  /// Draws the marks before the operation's id: the mark of the selection, the mark of a cancellation, a tag
  /// or a warning, and the cancel key.
  private func drawMarks(
    of report: OperationReport, key columns: Range<Int>?, _ isSelected: Bool, row: Int,
    on canvas: inout Canvas
  ) {
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: layout.table, style: Style(.accent))
    }
    if dashboard.list.cancelledRows.key(of: report.id) != nil {
      let column = layout.table.lowerBound + 1
      canvas.put("x", row: row, column: column, style: Style(report.state.role, isBold: true))
    } else if dashboard.tags.ids.contains(report.id) {
      let column = layout.table.lowerBound + 1
      canvas.put("*", row: row, column: column, style: Style(.accent, isBold: true))
    } else if monitored.warned.contains(report.id) {
      let column = layout.table.lowerBound + 1
      canvas.put("!", row: row, column: column, style: Style(.warning, isBold: true))
    }
    if let columns {
      CancelKeyColumn(dashboard: dashboard, columns: columns).draw(report.id, row: row, on: &canvas)
    }
  }

  /// Draws the cursor at the former line of the selected operation, and the reason why the operation's row is
  /// not on the screen.
  private func drawGhost(_ columns: ColumnPlan, row: Int, on canvas: inout Canvas) {
    guard let id = dashboard.list.selection.id else { return }
    let isListed = dashboard.list.rows.index(of: id) != nil
    let reason = dashboard.whyNoRow(id, otherwise: isListed ? "off screen" : "not listed")
    canvas.writeGhost(row: row, columns: layout.table)
    let words = "selected row: \(reason) \(canvas.glyphs.dot) g: first row"
    var start = layout.table.lowerBound + 2
    if let range = columns[.id],
      range.upperBound + 1 + words.unicodeScalars.count < layout.table.upperBound
    {
      canvas.writeRight("\(id)", row: row, columns: range, style: Style(.dim))
      start = range.upperBound + 1
    }
    canvas.write(words, row: row, columns: start..<layout.table.upperBound, style: Style(.strong))
  }

  private func drawEmpty(row: Int, on canvas: inout Canvas) {
    let text: String
    if monitored.lastUpdate == nil {
      text = "no data received yet"
    } else if dashboard.list.listing.showsWarnedOnly, monitored.warned.isEmpty {
      text = "no operation has a warning; press ! to show all operations"
    } else if dashboard.list.listing.filter != nil {
      text = "no operation matches the filter; press \\ to change it"
    } else if dashboard.list.listing.showsWarnedOnly {
      text = "no operation with a warning is listed; press ! to show all operations"
    } else if dashboard.list.listing.hidesOver, dashboard.listableCount > 0 {
      let count = CountText.text(dashboard.listableCount)
      text = "no unfinished operations; press H to show \(count) finished"
    } else {
      text = "no operations"
    }
    canvas.write(
      text, row: row, columns: layout.table.dropFirst(2), style: Style(.dim))
  }
}
