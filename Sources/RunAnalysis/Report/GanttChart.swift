// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The chart of the runs of operations over time, with a row for each slot of each queue.
struct GanttChart {
  /// The maximum number of slots that are drawn for a queue. Further slots are only counted.
  static let laneLimit = 32
  /// The maximum number of queues that are drawn. The queues with the fewest runs are left out and only
  /// counted.
  static let queueLimit = 24
  private static let laneHeight = 13.0
  private static let titleHeight = 22.0
  /// The minimum width of a bar. Adjacent executions whose bars would be narrower share one bar.
  private static let narrowest = 1.2

  private let history: RunHistory
  private let axis: TimeAxis
  private let colors: KindColors
  private let pathOperations: Set<OperationReport.ID>

  init(_ history: RunHistory, _ axis: TimeAxis, _ colors: KindColors, _ path: CriticalPath?) {
    (self.history, self.axis, self.colors) = (history, axis, colors)
    pathOperations = Set(path?.operations ?? [])
  }

  /// The drawing of the whole chart.
  var drawing: String {
    let all = SlotLanes.ofQueues(in: history).map { queue, lanes in
      (queue: queue, lanes: lanes.lanes, count: lanes.lanes.reduce(0) { $0 + $1.count })
    }
    let busiest = all.sorted { ($1.count, $0.queue) < ($0.count, $1.queue) }
    let shown = busiest.prefix(Self.queueLimit).sorted { $0.queue < $1.queue }
    var y = 18.0
    var rows = ""
    for (queue, lanes, _) in shown {
      rows += queueTitle(queue, lanes, y: y)
      y += Self.titleHeight
      for (slot, lane) in lanes.prefix(Self.laneLimit).enumerated() {
        rows += laneRow(lane, number: slot + 1, y: y)
        y += Self.laneHeight
      }
    }
    let height = y + 6
    let note =
      all.count > shown.count
      ? "<p class=\"note\">\(HTMLText.count(all.count - shown.count)) queues with shorter run times are not shown.</p>"
      : ""
    return """
      <svg role="img" aria-label="The operations in each slot over time" viewBox="0 0 \(HTMLText.number(TimeAxis.width)) \
      \(HTMLText.number(height))">
      \(axis.drawing(height: height))\(rows)</svg>\(note)
      """
  }

  private func queueTitle(_ queue: QueueReport.ID, _ lanes: [[SlotLanes.Run]], y: Double) -> String
  {
    let busy = lanes.joined().reduce(0.0) { sum, run in
      sum + max(.zero, min(run.end, axis.end) - max(run.start, axis.start)).microseconds
    }
    let width = history.queues[queue]?.width
    let slots = max(width ?? lanes.count, 1)
    let length = (axis.end - axis.start).microseconds
    var facts = width.map { "width \($0)" } ?? "default width"
    facts += ", \(HTMLText.share(busy, of: length * Double(slots))) busy"
    if lanes.count > Self.laneLimit {
      facts += ", \(HTMLText.count(lanes.count - Self.laneLimit)) more slots not drawn"
    }
    let name = HTMLText.escaped(history.name(of: queue))
    return """
      <text class="queue" x="0" y="\(HTMLText.number(y + 15))">\(name) <tspan class="tick-left">\
      \(facts)</tspan></text>

      """
  }

  /// A bar of the chart. It shows one run, or several runs that are too narrow for their own bars.
  private struct Bar {
    var left: Double
    var right: Double
    var runs: [SlotLanes.Run]
    var isCritical: Bool
  }

  private func laneRow(_ lane: [SlotLanes.Run], number: Int, y: Double) -> String {
    var bars: [Bar] = []
    for run in lane where run.end >= axis.start && run.start <= axis.end {
      let (left, right) = (axis.x(run.start), axis.x(run.end))
      let isCritical = pathOperations.contains(run.operation)
      if let last = bars.last, right - left < Self.narrowest,
        left - last.right < Self.narrowest / 2,
        last.runs.count > 1 || last.right - last.left < Self.narrowest
      {
        bars[bars.count - 1].right = max(last.right, right)
        bars[bars.count - 1].isCritical = last.isCritical || isCritical
        bars[bars.count - 1].runs.append(run)
      } else {
        bars.append(Bar(left: left, right: right, runs: [run], isCritical: isCritical))
      }
    }
    let label =
      "<text class=\"lane\" x=\"\(HTMLText.number(TimeAxis.left - 6))\" y=\"\(HTMLText.number(y + 10))\">"
      + "slot \(number)</text>\n"
    return label + bars.map { drawing(of: $0, y: y) }.joined()
  }

  private func drawing(of bar: Bar, y: Double) -> String {
    let reports = bar.runs.compactMap { history.operations[$0.operation] }
    guard let first = reports.first else { return "" }
    let isOne = bar.runs.count == 1
    let title =
      isOne
      ? "\(first.id) \(first.title) · \(first.kind) · \(first.state.rawValue) · "
        + HTMLText.duration(bar.runs[0].duration)
      : "\(bar.runs.count) operations"
    let color = isOne ? colors.style(of: first.kind) : "several"
    var classes = "bar \(color)"
    if first.state == .cancelled || first.state == .cancelling { classes += " cancelled" }
    if !first.state.isOver { classes += " open" }
    if bar.isCritical { classes += " critical" }
    let width = max(0.6, bar.right - bar.left)
    return """
      <rect class="\(classes)" x="\(HTMLText.number(bar.left))" y="\(HTMLText.number(y + 1))" \
      width="\(HTMLText.number(width))" height="11"><title>\(HTMLText.escaped(title))</title></rect>

      """
  }
}

/// The colors of the kinds of operations in the chart. Only the kinds with the longest total run times have their own
/// colors.
struct KindColors {
  /// The number of colors for kinds.
  static let count = 7

  /// The kinds that have their own colors, in the order of the colors.
  let kinds: [String]

  init(_ times: [KindDistributions]) {
    let sorted = times.sorted { ($1.work.total, $0.kind) < ($0.work.total, $1.kind) }
    kinds = sorted.prefix(Self.count).map(\.kind)
  }

  /// Returns the name of the CSS class for the color of a kind of operation.
  func style(of kind: String) -> String {
    kinds.firstIndex(of: kind).map { "class\($0)" } ?? "other"
  }

  /// The HTML that explains the colors.
  var legend: String {
    let entries = kinds.enumerated().map { number, name in
      "<span><i class=\"class\(number)\"></i>\(HTMLText.escaped(name))</span>"
    }
    let rest = """
      <span><i class="other"></i>other kinds</span><span><i class="several"></i>several short runs</span>\
      <span><i class="critical-key"></i>on the critical path</span>\
      <span><i class="cancelled-key"></i>cancelled</span>
      """
    return "<p class=\"legend\">\(entries.joined())\(rest)</p>"
  }
}
