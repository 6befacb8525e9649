// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// The table of run times by kind of operation. The kinds with the longest times come first.
struct KindTable {
  /// The maximum number of kinds in the table. Further kinds are only counted.
  private static let limit = 25
  /// The number of bars in the chart of a distribution. The scale is logarithmic: the ratio of the longest to
  /// the shortest duration of a bar is the same for all bars.
  private static let binCount = 36

  private let all: [KindDistributions]
  private let colors: KindColors
  /// The shortest and the longest run of all listed kinds, as powers of ten of a nanosecond.
  private let scale: ClosedRange<Double>

  init(_ all: [KindDistributions], _ colors: KindColors) {
    (self.all, self.colors) = (all, colors)
    let ends = all.prefix(Self.limit).flatMap { [$0.work.durations[0], $0.work.longest] }
      .map(Self.magnitude)
    let shortest = (ends.min() ?? 0).rounded(.down)
    scale = shortest...max(shortest + 1, (ends.max() ?? 1).rounded(.up))
  }

  /// The HTML of the table's section, without the heading.
  var html: String {
    let rows = all.prefix(Self.limit).map(row)
    let left = all.count - rows.count
    let note = left > 0 ? "\(HTMLText.count(left)) kinds with shorter runs are not shown. " : ""
    let (from, to) = (Self.duration(scale.lowerBound), Self.duration(scale.upperBound))
    return """
      <div class="scroll"><table><thead><tr><th>kind</th><th class="n">runs</th>\
      <th class="n">total</th><th class="n">p50</th><th class="n">p90</th>\
      <th class="n">p99</th><th class="n">longest</th>\
      <th>\(HTMLText.duration(from)) … \(HTMLText.duration(to))</th>\
      <th class="n">slot wait p50</th><th class="n">slot wait p90</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>
      <p class="note">\(note)Each bar of a distribution is a range of durations on a logarithmic scale, \
      which all kinds share; its height is the number of runs in this range.</p>
      """
  }

  private func row(_ times: KindDistributions) -> String {
    let work = times.work
    let durations = [work.total] + [50, 90, 99].map { work.percentile($0) } + [work.longest]
    let waits = [50, 90].map { hundredths in
      times.slotWait.map { HTMLText.duration($0.percentile(hundredths)) } ?? ""
    }
    let cells = ([HTMLText.count(work.count)] + durations.map(HTMLText.duration))
      .map { "<td class=\"n\">\($0)</td>" }
    return """
      <tr><td><i class="\(colors.style(of: times.kind))"></i>\(HTMLText.escaped(times.kind))</td>\
      \(cells.joined())<td>\(drawing(of: work, colors.style(of: times.kind)))</td>\
      \(waits.map { "<td class=\"n\">\($0)</td>" }.joined())</tr>
      """
  }

  private func drawing(of distribution: Distribution, _ style: String) -> String {
    var counts = [Int](repeating: 0, count: Self.binCount)
    let length = scale.upperBound - scale.lowerBound
    for duration in distribution.durations {
      let place = (Self.magnitude(duration) - scale.lowerBound) / length
      counts[min(max(Int(place * Double(Self.binCount)), 0), Self.binCount - 1)] += 1
    }
    let most = Double(counts.max() ?? 1)
    let bars = counts.enumerated().filter { $0.element > 0 }.map { index, count in
      let height = max(1, Double(count) / most * 22)
      return """
        <rect class="\(style)" x="\(index * 4)" y="\(HTMLText.number(24 - height))" width="3.4" \
        height="\(HTMLText.number(height))"/>
        """
    }
    return """
      <svg class="spark" aria-hidden="true" viewBox="0 0 \(Self.binCount * 4) 25">\(bars.joined())\
      <line class="base" x1="0" x2="\(Self.binCount * 4)" y1="24.5" y2="24.5"/></svg>
      """
  }

  /// Returns a duration as a power of ten of a nanosecond.
  private static func magnitude(_ duration: Duration) -> Double {
    cmonitor_log10(Double(max(1, duration.saturatedNanoseconds)))
  }

  private static func duration(_ magnitude: Double) -> Duration {
    // The exponent is at most 18, because larger powers of ten do not fit into 64 bits.
    .nanoseconds(
      (0..<min(max(0, Int(magnitude)), 18)).reduce(Int64(1)) { number, _ in number * 10 })
  }
}
