// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Words and bars about the starts and the use of a queue in the last minute.
struct QueueHistoryText {
  private let history: QueueHistory
  private let glyphs: Glyphs

  /// Creates the words about a history; `nil` if the queue has none yet.
  init(_ history: QueueHistory?, glyphs: Glyphs) {
    self.history = history ?? QueueHistory()
    self.glyphs = glyphs
  }

  /// Whether no operation has started in the last seconds, or whether this is unknown.
  var isIdle: Bool { history.rate.map { $0 == 0 } ?? true }

  /// Returns the number of starts per second in this number of cells.
  func rate(cells: Int) -> String {
    history.rate.map { CountText.rate($0, cells: cells) } ?? glyphs.unknown
  }

  /// Returns a bar for each of the last `cells` seconds, the newest last. There may be fewer seconds.
  func bars(cells: Int) -> (text: String, style: Style) {
    let bars = Sparkline(history.samples, cells: cells)
    let isMoving = bars.samples.contains { $0 > 0 }
    return (bars.text(glyphs), Style(isMoving ? .executing : .dim))
  }

  /// Returns the use of the slots in this number of cells: `86%`, or `~3` executing operations of a queue without a
  /// width.
  func use(cells: Int) -> String {
    switch history.use {
    case .share(let share): "\(Int((share * 100).rounded()))%"
    case .count(let count): "~\(CountText.rate(count, cells: cells - 1))"
    case nil: glyphs.unknown
    }
  }
}

/// Words about the limit of a queue's starts, and about a limit that was requested and that the queue has not
/// reported.
struct StartLimitText {
  private let reported: QueueReport.StartLimit?
  private let requested: QueueReport.StartLimit??
  private let glyphs: Glyphs

  /// Creates the words about a queue.
  init(_ queue: QueueReport, in dashboard: Dashboard, _ glyphs: Glyphs) {
    reported = queue.startLimit
    requested = dashboard.queueRequests.startLimits[queue.id]
    self.glyphs = glyphs
  }

  /// Returns the text of a limit: `5/s`, or `off` for no limit.
  static func text(_ limit: QueueReport.StartLimit?) -> String { limit?.text ?? "off" }

  /// The text of the limit, such as `5/s` or `5/s→10/s`; `nil` if there is no limit and none was requested.
  var text: String? { shortForms.first }

  /// The text of the limit, the longest form first; empty if there is no limit and none was requested.
  var shortForms: [String] {
    guard let requested else { return reported.map { [$0.text] } ?? [] }
    let end = "\(glyphs.arrow)\(Self.text(requested))"
    return [Self.text(reported) + end, end]
  }
}

/// Draws the rule above the operations of a queue, with the name and the settings of the queue.
struct QueueTitle {
  private let queue: QueueReport
  private let dashboard: Dashboard

  /// Creates the rule of a queue.
  init(_ queue: QueueReport, in dashboard: Dashboard) {
    self.queue = queue
    self.dashboard = dashboard
  }

  /// Draws the rule across the screen. If there is not enough room, the settings are left out.
  func draw(row: Int, on canvas: inout Canvas) {
    let glyphs = canvas.glyphs
    let columns = canvas.columns
    canvas.rule(row: row)
    let limit = StartLimitText(queue, in: dashboard, glyphs).text
    let slots = QueueSlots(queue, in: dashboard, cells: 8).spans(glyphs)
    let limits = limit.map { [Span(" limit of starts "), Span("\($0) ", .accent)] } ?? []
    func width(_ spans: [Span]) -> Int { spans.reduce(0) { $0 + glyphs.width(of: $1.text) } }
    // The name keeps at least twelve cells.
    let room = columns.count - 16
    let forms = [
      [Span(" ")] + slots + [Span(" ")]
        + (limits.isEmpty ? [] : [Span("\(glyphs.horizontal)", .dim)])
        + limits, [Span(" ")] + slots + [Span(" ")],
    ]
    let right = forms.first { width($0) <= room } ?? []
    let start = columns.upperBound - 1 - width(right)
    let name = [Span(" \(glyphs.clipped(queue.label, to: 200)) ", .strong, isBold: true)]
    canvas.write(
      name, row: row, columns: 1..<max(2, right.isEmpty ? columns.upperBound : start - 1))
    canvas.write(right, row: row, columns: start..<columns.upperBound)
  }
}
