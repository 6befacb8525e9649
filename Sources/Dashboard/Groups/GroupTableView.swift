// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the groups of the list: the number of operations in each state, how many end per second, how long they wait
/// and run, and a histogram of their run times.
struct GroupTableView {
  let dashboard: Dashboard
  let layout: Layout
  let state: GroupState

  func draw(on canvas: inout Canvas) {
    if let row = layout.topRule { canvas.rule(row: row, title: title(canvas.glyphs)) }
    if let row = layout.bottomRule { canvas.rule(row: row) }
    let places = Places(in: layout.table)
    drawHeadings(places, on: &canvas)
    let lines = state.lines(height: height)
    for (row, index) in zip(layout.body, lines) {
      if let index {
        canvas.mark(.line(.group(state.rows[index].key)), row: row, columns: layout.table)
        draw(state.rows[index], places, row: row, on: &canvas)
      } else {
        drawGhost(row: row, on: &canvas)
      }
    }
    drawRemark(below: lines.count, on: &canvas)
    drawSentence(on: &canvas)
  }

  private var monitored: MonitoredState { dashboard.shown }

  private var height: Int { max(1, layout.bodyHeight - (monitored.hasGroupRemark ? 1 : 0)) }

  /// Returns the number of past seconds that a table of this width shows.
  static func seconds(columns: Int) -> Int {
    let graph = Places(in: 0..<columns).graph?.count ?? 0
    return max(RateHistory.meanSeconds, graph)
  }

  // MARK: Headings

  private func drawHeadings(_ places: Places, on canvas: inout Canvas) {
    let row = layout.headings
    let mark = state.order.isAscending ? canvas.glyphs.ascending : canvas.glyphs.descending
    func heading(_ text: String, _ column: GroupOrder.Column) -> (String, Style) {
      column == state.order.column
        ? (text + mark, Style(.strong, isBold: true)) : (text, Style(.dim))
    }
    let (name, style) = heading(state.by == .kind ? "KIND" : "QUEUE", .name)
    canvas.mark(.groupHeading(.name), row: row, columns: places.name)
    canvas.write(name, row: row, columns: places.name, style: style)
    for (value, place) in places.values {
      canvas.mark(.groupHeading(value.column), row: row, columns: place)
      var (text, style) = heading(value.title, value.column)
      // On a narrow screen, the mark would touch the heading before. The last row shows the order there.
      if canvas.glyphs.width(of: text) == place.count { text = value.title }
      canvas.writeRight(text, row: row, columns: place, style: style)
    }
    if let place = places.graph {
      canvas.mark(.groupHeading(nil), row: row, columns: place)
      canvas.write("ENDED PER SECOND", row: row, columns: place, style: Style(.dim))
    }
    if let place = places.histogram {
      canvas.mark(.groupHeading(nil), row: row, columns: place)
      let unit = canvas.glyphs.isUnicode ? "µs" : "us"
      canvas.write("1\(unit) RUN TIMES 4m", row: row, columns: place, style: Style(.dim))
    }
  }

  private func title(_ glyphs: Glyphs) -> [Span] {
    let by = state.by == .kind ? "kind" : "queue"
    let separator = " \(glyphs.horizontal) "
    let listing = dashboard.list.listing
    var title = [Span(" operations by \(by)")]
    if listing.showsWarnedOnly {
      title += [Span(separator, .dim), Span("warnings only", .warning)]
    }
    let over = listing.hidesOver ? "\(separator)finished hidden" : ""
    title.append(
      Span(
        "\(separator)filter: \(listing.filter?.text ?? "none")\(over)\(separator)"
          + "sort: \(state.order.words) ", .dim))
    return title
  }

  // MARK: Rows

  private func draw(
    _ group: OperationGroups.Group, _ places: Places, row: Int, on canvas: inout Canvas
  ) {
    let columns = layout.table
    let isSelected = group.key == state.selected?.key
    if isSelected {
      canvas.write(canvas.glyphs.selection, row: row, columns: columns, style: Style(.accent))
    }
    let name = monitored.title(of: group.key).clipped(from: 0, toFill: places.name.count)
    canvas.write(
      name, row: row, columns: places.name,
      style: isSelected ? Style(.strong, isBold: true) : Style(.text))
    let history = monitored.groupHistories[group.key]
    for (value, place) in places.values {
      let (text, style) = text(of: value, group, history, cells: place.count - 1, canvas.glyphs)
      canvas.writeRight(text, row: row, columns: place, style: style)
    }
    if let place = places.graph, let history {
      let bars = Sparkline(history.samples, cells: place.count)
      canvas.writeRight(bars.text(canvas.glyphs), row: row, columns: place, style: Style(.accent))
    }
    if let place = places.histogram {
      let text = histogram(group.runBuckets, cells: place.count, canvas.glyphs)
      canvas.write(text, row: row, columns: place, style: Style(.accent))
    }
    if isSelected { canvas.select(row: row, columns: columns) }
  }

  private func text(
    of value: Value, _ group: OperationGroups.Group, _ history: RateHistory?, cells: Int,
    _ glyphs: Glyphs
  ) -> (String, Style) {
    if let count = value.column.count(group.counts) {
      return (CountText.text(count, cells: cells), Style(count == 0 ? .dim : value.role))
    }
    if value.column == .rate {
      guard let rate = history?.rate else { return (glyphs.unknown, Style(.dim)) }
      return (CountText.rate(rate, cells: cells), Style(rate == 0 ? .dim : value.role))
    }
    guard let time = value.column.time(group.times) else { return (glyphs.unknown, Style(.dim)) }
    return (TimeText.fine(time, glyphs), Style(value.role))
  }

  /// Returns a bar for each range of run times. A range without run times has no bar.
  private func histogram(_ buckets: [Int], cells: Int, _ glyphs: Glyphs) -> String {
    let levels = Sparkline(buckets, cells: cells).levels
    var text = String.UnicodeScalarView()
    for level in levels { text.append(level == 0 ? " " : glyphs.bars[level]) }
    return String(text)
  }

  /// Draws the line that stands for the selected group after this group has disappeared.
  private func drawGhost(row: Int, on canvas: inout Canvas) {
    let columns = layout.table
    canvas.writeGhost(row: row, columns: columns)
    canvas.write(
      "the selected group no longer exists", row: row, columns: columns.dropFirst(2),
      style: Style(.strong))
  }

  /// Draws the number of groups that have no row and of processes that are not counted, or the reason why there are no
  /// groups.
  private func drawRemark(below lineCount: Int, on canvas: inout Canvas) {
    let row = layout.body.lowerBound + lineCount
    guard row < layout.body.upperBound, let remark = remark(canvas.glyphs) else { return }
    canvas.write(remark, row: row, columns: layout.table.dropFirst(2), style: Style(.dim))
  }

  private func remark(_ glyphs: Glyphs) -> String? {
    var remarks: [String] = []
    let groups = monitored.groups.flatMap { $0.by == state.by ? $0 : nil }
    let otherCount = groups?.otherCount ?? 0
    if otherCount > 0 { remarks.append(CountText.text(otherCount, "more group")) }
    if let counting = groups?.countingProcessCount, counting > 0 {
      let operations = "the operations of \(counting) \(counting == 1 ? "process" : "processes")"
      remarks.append(
        dashboard.paused == nil
          ? "counting \(operations)" : "\(operations) were not counted before the pause")
    } else if otherCount == 0, state.rows.isEmpty {
      remarks.append(reason(glyphs))
    }
    let uncounted = monitored.uncountedProcessCount
    if uncounted > 0, !monitored.isWithoutGroups {
      remarks.append(
        uncounted == 1
          ? "1 process with an older version of opq is not counted"
          : "\(CountText.text(uncounted)) processes with an older version of opq are not counted")
    }
    return remarks.isEmpty ? nil : remarks.joined(separator: ", ")
  }

  /// Returns the reason why there are no groups.
  private func reason(_ glyphs: Glyphs) -> String {
    if monitored.groups?.by == state.by {
      let listing = dashboard.list.listing
      guard listing.filter == nil else { return "no operation matches the filter" }
      return listing.hidesOver ? "no unfinished operations" : "no operations"
    }
    if monitored.isWithoutGroups {
      return "a process with an older version of opq does not count operations by "
        + (state.by == .kind ? "kind" : "queue")
    }
    if dashboard.paused != nil {
      return "the groups were not counted before the pause; press p to continue"
    }
    if monitored.endedReason != nil {
      return "the groups were not counted before the updates ended"
    }
    if monitored.disconnectedReason != nil {
      return "the groups were not counted before the connection was lost"
    }
    return "counting\(glyphs.ellipsis)"
  }

  /// Draws the sentence about the selected group, and the order if no title shows it.
  private func drawSentence(on canvas: inout Canvas) {
    var columns = canvas.columns.dropFirst()
    if layout.topRule == nil {
      let listing = dashboard.list.listing
      let filter =
        listing.filter.map { "filter: \(canvas.glyphs.clipped($0.text, to: 20)), " } ?? ""
      let words = "  \(filter)sort: \(state.order.words) "
      canvas.writeRight(
        words, row: layout.sentence, columns: canvas.columns, style: Style(.accent, isBold: true))
      columns = columns.dropLast(canvas.glyphs.width(of: words))
    }
    guard let group = state.selected else { return }
    let (unfinished, total) = (group.counts.unfinished, group.counts.total)
    let noun = total == 1 ? "operation" : "operations"
    let verb = unfinished == 1 || total == 1 ? "is" : "are"
    let count = "\(CountText.text(unfinished)) of \(CountText.text(total))"
    let forms = [
      ": \(count) \(noun) \(verb) unfinished; Enter lists this group",
      ": \(count) \(noun) \(verb) unfinished", ": \(count) unfinished", ": \(count)",
    ]
    let title = monitored.title(of: group.key)
    let form = Self.form(
      of: forms.map { canvas.glyphs.width(of: $0) }, title: canvas.glyphs.width(of: title),
      cells: columns.count)
    let room = columns.dropLast(canvas.glyphs.width(of: forms[form]))
    let end = canvas.write(
      title.clipped(from: 0, toFill: room.count), row: layout.sentence, columns: room,
      style: Style(.strong, isBold: true))
    canvas.write([Span(forms[form])], row: layout.sentence, columns: end..<columns.upperBound)
  }

  /// Returns the index of the first form that has room beside the title of a group. If none has room, the title is cut,
  /// but keeps a number of cells.
  private static func form(of widths: [Int], title: Int, cells: Int) -> Int {
    let shortest = min(title, shortestTitle)
    return widths.dropLast().firstIndex { title + $0 <= cells }
      ?? widths.firstIndex { shortest + $0 <= cells } ?? widths.count - 1
  }

  /// The number of cells to which the title of a group may be cut before the end of the sentence is left out.
  private static let shortestTitle = 24
}

// MARK: Places

extension GroupTableView {
  /// A column with a number or a time for each group.
  private struct Value: Sendable {
    let title: String
    let column: GroupOrder.Column
    /// The number of cells on a narrow screen: room for the text or for the title, and for a space.
    let narrowWidth: Int
    /// The number of cells on a wide screen.
    let width: Int
    let role: Role
    /// The rank of the column. A table without room for all columns has those with the lowest ranks.
    let rank: Int
  }

  /// The columns of numbers and times, from left to right.
  private static let values = [
    Value(title: "EXEC", column: .executing, narrowWidth: 5, width: 6, role: .executing, rank: 0),
    Value(title: "READY", column: .ready, narrowWidth: 6, width: 7, role: .ready, rank: 1),
    Value(title: "WAIT", column: .waiting, narrowWidth: 5, width: 7, role: .waiting, rank: 2),
    Value(title: "FIN", column: .finished, narrowWidth: 5, width: 8, role: .finished, rank: 4),
    Value(title: "FAIL", column: .failed, narrowWidth: 5, width: 6, role: .failed, rank: 3),
    Value(title: "CANC", column: .cancelled, narrowWidth: 5, width: 6, role: .cancelled, rank: 5),
    Value(title: "RATE", column: .rate, narrowWidth: 5, width: 6, role: .text, rank: 6),
    Value(title: "SLOT50", column: .medianWait, narrowWidth: 7, width: 8, role: .text, rank: 8),
    Value(title: "SLOT99", column: .longestWait, narrowWidth: 7, width: 8, role: .text, rank: 10),
    Value(title: "RUN50", column: .medianRun, narrowWidth: 7, width: 7, role: .text, rank: 7),
    Value(title: "RUN99", column: .longestRun, narrowWidth: 7, width: 7, role: .text, rank: 9),
  ]

  /// The positions of the table's columns.
  private struct Places {
    let name: Range<Int>
    let values: [(Value, Range<Int>)]
    /// The column of the operations that ended in each of the last seconds; `nil` if there is no room.
    let graph: Range<Int>?
    /// The column of the histogram of run times; `nil` if there is no room.
    let histogram: Range<Int>?

    private static let narrowestName = 12
    private static let histogramName = 16
    private static let roomyName = 20
    private static let graphName = 40
    private static let (narrowestGraph, widestGraph) = (16, 60)
    /// The number of spaces before the graph and before the histogram.
    private static let gap = 2

    init(in columns: Range<Int>) {
      let left = columns.lowerBound + 2
      let room = columns.upperBound - left
      var chosen: [Value] = []
      var taken = 0
      for value in GroupTableView.values.sorted(by: { $0.rank < $1.rank }) {
        guard taken + value.narrowWidth + Self.narrowestName <= room else { break }
        chosen.append(value)
        taken += value.narrowWidth
      }
      let ranks = Set(chosen.map(\.rank))
      let shown = GroupTableView.values.filter { ranks.contains($0.rank) }
      let histogramWidth = OperationGroups.bucketCount + Self.gap
      let isComplete = shown.count == GroupTableView.values.count
      let hasHistogram = isComplete && taken + histogramWidth + Self.histogramName <= room
      if hasHistogram { taken += histogramWidth }
      let wide = shown.reduce(0) { $0 + $1.width - $1.narrowWidth }
      let isWide = taken + wide + Self.roomyName <= room
      if isWide { taken += wide }
      let graphRoom = min(room - taken - Self.graphName - Self.gap, Self.widestGraph)
      let hasGraph = graphRoom >= Self.narrowestGraph
      if hasGraph { taken += graphRoom + Self.gap }
      name = left..<left + room - taken
      var next = name.upperBound
      var places: [(Value, Range<Int>)] = []
      var graph: Range<Int>?
      for value in shown {
        let width = isWide ? value.width : value.narrowWidth
        places.append((value, next..<next + width))
        next += width
        guard value.column == .rate, hasGraph else { continue }
        graph = next + Self.gap..<next + Self.gap + graphRoom
        next += Self.gap + graphRoom
      }
      values = places
      self.graph = graph
      histogram = hasHistogram ? next + Self.gap..<next + histogramWidth : nil
    }
  }
}
