// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The section of a report about the critical path. It shows how much time each kind of segment takes, the
/// segments over time, and the operations of the path.
struct PathSection {
  /// The maximum number of listed operations of the path. The operations with the shortest times are left out
  /// and only counted.
  private static let rowLimit = 40
  /// The minimum width of a bar. Narrower segments share a bar with their neighbours.
  private static let narrowest = 0.6

  private let history: RunHistory
  private let path: CriticalPath
  private let axis: TimeAxis
  /// The kinds of segments that the path has.
  private let kinds: [CriticalPath.Kind]

  init(_ history: RunHistory, _ path: CriticalPath, _ axis: TimeAxis) {
    (self.history, self.path, self.axis) = (history, path, axis)
    kinds = [.unaccounted, .dependencyWait, .slotWait, .work].filter { path.total(of: $0) > .zero }
  }

  /// The HTML of the section, without the heading.
  var html: String {
    let end = path.operations.last.map { id in
      "\(id) \(HTMLText.escaped(history.operations[id]?.title ?? ""))"
    }
    let which =
      path.isOfWholeRun
      ? "the operation that finished last"
      : "the end of the longest path (the recording ended before all operations finished)"
    let count = path.operations.count
    let who =
      count == 1
      ? "The path has one operation"
      : "The path has \(HTMLText.count(count)) operations. Each one waited for the previous one"
    return """
      <p>\(who). The path takes <b>\(HTMLText.duration(path.duration))</b> and ends with \(end ?? ""), \(which).</p>
      \(shares)
      \(drawing)
      \(table)
      <p class="note">Work: an operation of the path ran. Slot wait: it was ready and had not started: \
      no slot was free, a barrier was ahead, or its queue was suspended. Dependency wait: it waited for something that is not on the path: \
      an operation with a common exclusion, its own isReady, or a dependency that was not recorded. Unaccounted: it was not added yet, \
      or not recorded. Each moment is counted once. Time in which a dependency on the path ran counts as work.</p>
      """
  }

  private var shares: String {
    let rows = kinds.map { kind in
      let total = path.total(of: kind)
      return
        """
        <tr><th scope="row"><i class="\(kind.style)"></i>\(kind.words)</th>\
        <td>\(HTMLText.duration(total))</td><td>\(HTMLText.share(total.microseconds, of: path.duration.microseconds))</td>\
        <td class="wide"><span class="meter \(kind.style)" \
        style="width:\(HTMLText.number(total / max(path.duration, .nanoseconds(1)) * 100))%"></span></td></tr>
        """
    }
    return "<table class=\"shares\">\(rows.joined(separator: "\n"))</table>"
  }

  private var drawing: String {
    let bars = bars.map { bar in
      let title =
        bar.segments.count == 1 ? words(bar.segments[0]) : "\(bar.segments.count) short parts"
      return """
        <rect class="\(bar.kind.style)" x="\(HTMLText.number(bar.left))" y="18" \
        width="\(HTMLText.number(max(0.4, bar.right - bar.left)))" height="22">\
        <title>\(HTMLText.escaped(title))</title></rect>

        """
    }
    return """
      <svg role="img" aria-label="The critical path over time" viewBox="0 0 \
      \(HTMLText.number(TimeAxis.width)) 44">
      \(axis.drawing(height: 44))<text class="queue" x="0" y="33">critical path</text>
      \(bars.joined())</svg>
      """
  }

  /// A bar of the drawing. It shows one segment of the path, or several segments that are too narrow for
  /// their own bars.
  private struct Bar {
    var left: Double
    var right: Double
    /// The kind of segment that takes the most time of the bar.
    var kind: CriticalPath.Kind
    var segments: [CriticalPath.Segment]
  }

  private var bars: [Bar] {
    var bars: [Bar] = []
    for segment in path.segments {
      let (left, right) = (axis.x(segment.start), axis.x(segment.end))
      if let last = bars.last, right - last.left < Self.narrowest {
        bars[bars.count - 1].right = right
        bars[bars.count - 1].segments.append(segment)
        bars[bars.count - 1].kind = Self.mostOf(bars[bars.count - 1].segments)
      } else {
        bars.append(Bar(left: left, right: right, kind: segment.kind, segments: [segment]))
      }
    }
    return bars
  }

  private static func mostOf(_ segments: [CriticalPath.Segment]) -> CriticalPath.Kind {
    CriticalPath.Kind.allCases.map { kind in
      (kind, segments.reduce(Duration.zero) { $1.kind == kind ? $0 + $1.duration : $0 })
    }.max { $0.1 < $1.1 }?.0 ?? .work
  }

  private func words(_ segment: CriticalPath.Segment) -> String {
    let title = history.operations[segment.operation]?.title ?? ""
    let duration = HTMLText.duration(segment.duration)
    return "\(segment.kind.words) \(duration): \(segment.operation) \(title)"
  }

  private var table: String {
    let segments = Dictionary(grouping: path.segments, by: \.operation)
    let steps = path.operations.map { (id: $0, segments: segments[$0] ?? []) }
    func cost(_ segments: [CriticalPath.Segment]) -> Duration {
      segments.reduce(.zero) { $0 + $1.duration }
    }
    let costly = Set(
      steps.sorted { cost($0.segments) > cost($1.segments) }.prefix(Self.rowLimit).map(\.id))
    let rows = steps.filter { costly.contains($0.id) }.map { row($0.id, $0.segments) }
    let left = steps.count - rows.count
    let note =
      left > 0
      ? "<p class=\"note\">\(HTMLText.count(left)) shorter operations are not shown.</p>" : ""
    return """
      <div class="scroll"><table><thead><tr><th>id</th><th>operation</th><th>queue</th>\
      <th class="n">from</th>\(kinds.map { "<th class=\"n\">\($0.words)</th>" }.joined())\
      <th>its slot was freed by</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>\(note)
      """
  }

  private func row(_ id: OperationReport.ID, _ segments: [CriticalPath.Segment]) -> String {
    guard let report = history.operations[id] else { return "" }
    func cell(_ kind: CriticalPath.Kind) -> String {
      let total = segments.reduce(Duration.zero) { $1.kind == kind ? $0 + $1.duration : $0 }
      return "<td class=\"n\">\(total > .zero ? HTMLText.duration(total) : "")</td>"
    }
    let from = segments.first.map { HTMLText.duration($0.start - axis.start) } ?? ""
    // The operation that freed a slot is not important after a short wait, so it is named only after a wait
    // of more than 1 % of the path.
    let freer = segments.first { $0.duration * 100 > path.duration && $0.freedBy != nil }?.freedBy
      .map { id in
        "\(id) \(HTMLText.escaped(history.operations[id]?.title ?? ""))"
      }
    return """
      <tr><td class="id">\(id)</td><td>\(HTMLText.escaped(report.title))</td>\
      <td>\(HTMLText.escaped(history.name(of: report.queue)))</td><td class="n">\(from)</td>\
      \(kinds.map(cell).joined())\
      <td>\(freer ?? "")</td></tr>
      """
  }
}

extension CriticalPath.Kind {
  /// The name of the CSS class for the kind of segment.
  fileprivate var style: String {
    switch self {
    case .work: "work"
    case .slotWait: "slot-wait"
    case .dependencyWait: "dependency-wait"
    case .unaccounted: "unaccounted"
    }
  }
}
