// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the line that says how fast operations finish, how long they wait and how long they run.
struct RateView {
  let dashboard: Dashboard
  /// Whether the line has bars of its own; a graph below it makes them superfluous.
  let hasBars: Bool

  /// No more bars are drawn: a line has no use for them.
  static let barLimit = 60
  /// With fewer bars than these, something else is left out for them.
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
      // It grows to the right until it is as long as there is room, and scrolls from then on.
      column = min(end, column)
    }
    canvas.write(times, row: row, columns: end..<canvas.columns.upperBound)
  }

  private func rateSpans(_ glyphs: Glyphs) -> [Span] {
    let rate = dashboard.shown.rates.rate.map { CountText.rate($0) } ?? glyphs.unknown
    return [Span("rate ", .dim), Span("\(rate)/s", .strong)]
  }

  /// The same times in ever fewer words.
  private func timeSpans(_ glyphs: Glyphs) -> [[Span]] {
    let times = dashboard.shown.times
    // Of several processes that is not known, and never will be.
    if times == TimeStatistics(), !dashboard.shown.processes.isEmpty { return [] }
    func spans(_ label: String, _ percentiles: Percentiles?, hasP90: Bool) -> [Span] {
      guard let percentiles else { return [Span("\(label) \(glyphs.unknown)", .dim)] }
      var spans = [Span("\(label) p50 ", .dim), Span(text(percentiles.p50))]
      if hasP90 { spans += [Span(" p90 ", .dim), Span(text(percentiles.p90))] }
      return spans + [Span(" p99 ", .dim), Span(text(percentiles.p99))]
    }
    func text(_ duration: Duration) -> String { TimeText.fine(duration, glyphs) }
    let gap = [Span("   ")]
    let wait = spans("wait", times.wait, hasP90: false)
    let run = spans("run", times.run, hasP90: false)
    let full = [
      spans("wait", times.wait, hasP90: true), gap, spans("run", times.run, hasP90: true),
    ].flatMap { $0 }
    // Ninety tell little where every cell counts.
    let isWide = dashboard.screen.size.columns >= Layout.paneThreshold
    return (isWide ? [full] : []) + [wait + gap + run, run]
  }
}
