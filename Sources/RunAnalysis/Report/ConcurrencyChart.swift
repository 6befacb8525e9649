// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The chart with the number of executing operations and the number of ready operations without a slot, over
/// the time of the run.
struct ConcurrencyChart {
  private static let parts = 435
  private static let height = 110.0
  private static let gap = 34.0

  private let axis: TimeAxis
  /// Whether the chart uses the counts of operations in the updates and not the recorded operations, because
  /// some operations were not recorded.
  let isSampled: Bool
  let executing: ConcurrencyCurve
  private let ready: ConcurrencyCurve

  init(_ history: RunHistory, _ axis: TimeAxis) {
    self.axis = axis
    let time = axis.start..<max(axis.start, axis.end)
    isSampled = history.unrecordedCount > 0
    if isSampled {
      executing = ConcurrencyCurve(history.samples, \.executing, in: time, parts: Self.parts)
      ready = ConcurrencyCurve(history.samples, \.ready, in: time, parts: Self.parts)
    } else {
      let operations = history.operations.values
      executing = ConcurrencyCurve(
        operations.lazy.compactMap { history.run(of: $0) }, in: time, parts: Self.parts)
      ready = ConcurrencyCurve(
        operations.lazy.compactMap { report in
          report.becameReady.map { ready in
            ready..<max(ready, report.started ?? report.finished ?? axis.end)
          }
        }, in: time, parts: Self.parts)
    }
  }

  /// The drawing of both curves, one below the other.
  var drawing: String {
    let height = 2 * Self.height + Self.gap + 20
    return """
      <svg role="img" aria-label="Executing and ready operations over time" viewBox="0 0 \
      \(HTMLText.number(TimeAxis.width)) \(HTMLText.number(height))">
      \(axis.drawing(height: height))\(area(executing, "executing", y: 18))\
      \(area(ready, "ready", y: 18 + Self.height + Self.gap))</svg>
      """
  }

  private func area(_ curve: ConcurrencyCurve, _ name: String, y: Double) -> String {
    let top = max(1, (curve.means.max() ?? 1).rounded(.up))
    let step = (TimeAxis.width - TimeAxis.left) / Double(curve.means.count)
    let bottom = y + Self.height
    var path = "M\(HTMLText.number(TimeAxis.left)) \(HTMLText.number(bottom))"
    for (index, mean) in curve.means.enumerated() {
      let x = TimeAxis.left + Double(index) * step
      let height = HTMLText.number(bottom - mean / top * Self.height)
      path += "L\(HTMLText.number(x)) \(height)L\(HTMLText.number(x + step)) \(height)"
    }
    path += "L\(HTMLText.number(TimeAxis.width)) \(HTMLText.number(bottom))Z"
    let labels = [
      (name, y + 12, "queue"), ("peak \(HTMLText.count(curve.peak))", y + 30, "tick-left"),
      ("mean \(HTMLText.number((curve.mean * 10).rounded() / 10))", y + 46, "tick-left"),
    ].map { text, y, style in
      "<text class=\"\(style)\" x=\"0\" y=\"\(HTMLText.number(y))\">\(text)</text>"
    }
    let left = HTMLText.number(TimeAxis.left - 6)
    return """
      \(labels.joined())
      <text class="lane" x="\(left)" y="\(HTMLText.number(y + 8))">\(HTMLText.number(top))</text>
      <text class="lane" x="\(left)" y="\(HTMLText.number(bottom))">0</text>
      <path class="area \(name)" d="\(path)"/>
      <line class="base" x1="\(HTMLText.number(TimeAxis.left))" x2="\(HTMLText.number(TimeAxis.width))" \
      y1="\(HTMLText.number(bottom))" y2="\(HTMLText.number(bottom))"/>

      """
  }
}
