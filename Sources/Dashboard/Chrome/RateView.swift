// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the line with the rate at which operations finish, and with the waiting and run times of operations.
struct RateView {
  let dashboard: Dashboard
  /// Whether the line has bars. A line above the graph of finished operations has no bars.
  let hasBars: Bool

  /// The maximum number of bars in the line.
  static let barLimit = 60
  /// The minimum number of bars. If the line has no room for these bars, the waiting and run times are
  /// shortened or left out.
  private static let fewestBars = 8

  func draw(row: Int, on canvas: inout Canvas) {
    let rate = rateSpans(canvas.glyphs)
    let all = canvas.columns.dropFirst()
    func width(_ spans: [Span]) -> Int {
      spans.reduce(0) { $0 + canvas.glyphs.width(of: $1.text) }
    }
    let room = all.count - width(rate) - 1
    let reserve = hasBars ? Self.fewestBars + 3 : 2
    let times = timeSpans(canvas.glyphs).first { width($0) + reserve <= room } ?? []
    let end = canvas.columns.upperBound - 1 - width(times)
    var column = canvas.write(rate, row: row, columns: all) + 1
    if hasBars {
      let bars = Sparkline(
        dashboard.shown.rates.samples, cells: min(Self.barLimit, end - column - 2))
      column = canvas.write(
        bars.text(canvas.glyphs), row: row, columns: column..<end, style: Style(.executing))
      // Each new bar is added at the right. When the bars fill the room, they scroll to the left.
      column = min(end, column)
    }
    canvas.write(times, row: row, columns: end..<canvas.columns.upperBound)
  }

  private var isWide: Bool { dashboard.screen.size.columns >= Layout.paneThreshold }

  private func rateSpans(_ glyphs: Glyphs) -> [Span] {
    // The rate has a fixed number of cells, so that the bars do not move.
    let cells = isWide ? 7 : 5
    let rate = dashboard.shown.rates.rate.map { CountText.rate($0, cells: cells) } ?? glyphs.unknown
    return [Span("rate ", .dim), Span("\(rate)/s".padded(to: cells + 2), .strong)]
  }

  /// Returns several versions of the text with the waiting and run times, the longest version first.
  private func timeSpans(_ glyphs: Glyphs) -> [[Span]] {
    let times = dashboard.shown.times
    // If several processes are watched, the monitor never reports waiting and run times.
    if times == TimeStatistics(), !dashboard.shown.processes.isEmpty { return [] }
    func spans(_ label: String, _ percentiles: Percentiles?, hasP90: Bool) -> [Span] {
      guard let percentiles else { return [Span("\(label) \(glyphs.unknown)", .dim)] }
      var spans = [Span("\(label) p50 ", .dim), Span(text(percentiles.p50))]
      if hasP90 { spans += [Span(" p90 ", .dim), Span(text(percentiles.p90))] }
      return spans + [Span(" p99 ", .dim), Span(text(percentiles.p99))]
    }
    func text(_ duration: Duration) -> String { TimeText.fine(duration, glyphs) }
    let gap = [Span("   ")]
    let wait = spans("slot wait", times.wait, hasP90: false)
    let run = spans("run", times.run, hasP90: false)
    let full = [
      spans("slot wait", times.wait, hasP90: true), gap, spans("run", times.run, hasP90: true),
    ].flatMap { $0 }
    // If the line has little room, the 90th percentiles of the waiting and run times are left out.
    return (isWide ? [full] : []) + [wait + gap + run, run]
  }
}
