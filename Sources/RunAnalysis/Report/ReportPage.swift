// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The HTML page of a report about a run. The page is one file without scripts. It needs no other files and
/// no network access.
package struct ReportPage {
  /// The maximum number of warnings on the page. Further warnings are only counted.
  private static let warningLimit = 100

  private let history: RunHistory
  private let axis: TimeAxis
  private let path: CriticalPath?
  private let kinds: [KindDistributions]
  private let colors: KindColors
  private let version: String

  /// Creates the report of a run.
  ///
  /// - Parameters:
  ///   - history: The history of the run.
  ///   - version: The version of the program that creates the page, which the page shows.
  package init(_ history: RunHistory, version: String = "") {
    self.version = version
    self.history = history
    axis = TimeAxis(start: history.start, end: history.end)
    path = CriticalPath(of: history)
    kinds = KindDistributions.slowest(of: history)
    colors = KindColors(kinds)
  }

  /// The HTML of the whole page.
  package var html: String {
    let hello = history.hello
    let title = "\(HTMLText.escaped(hello.processName))[\(hello.processID)]"
    let concurrency = ConcurrencyChart(history, axis)
    let gantt = GanttChart(history, axis, colors, path)
    let sections: [(id: String, title: String, content: String)] = [
      ("path", "Critical path", pathContent),
      ("concurrency", "Concurrency", concurrencyContent(concurrency)),
      ("slots", "Slots", "\(colors.legend)\(gantt.drawing)"),
      ("failures", "Failures", FailureTable(history.operations.values).html),
      ("kinds", "Slowest kinds of operations", kindContent),
      ("warnings", "Warnings", warningContent),
    ]
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta http-equiv="Content-Security-Policy" \
      content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(title) · operations</title>
      <style>
      \(ReportStyle.text)
      </style>
      </head>
      <body>
      <header>
      <h1>\(title)</h1>
      <p>\(hello.wallClock(at: history.start)) to \(hello.wallClock(at: history.end)), \
      <b>\(HTMLText.duration(history.end - history.start))</b></p>
      \(remarks)
      </header>
      <main>
      \(tiles(concurrency))
      \(sections.map { "<section id=\"\($0.id)\"><h2>\($0.title)</h2>\n\($0.content)\n</section>" }
        .joined(separator: "\n"))
      </main>
      <footer>opq-top \(version)</footer>
      </body>
      </html>

      """
  }

  /// The notes on missing data. They come before all other sections.
  private var remarks: String {
    var remarks: [String] = []
    if history.unrecordedCount > 0 {
      remarks.append(
        """
        \(HTMLText.count(history.unrecordedCount)) of \(HTMLText.count(history.operationCount)) operations were only \
        counted and not recorded in detail, because too many were added at once. The sections below are about the others.
        """)
    }
    if history.earlierCount > 0 {
      remarks.append(
        "\(HTMLText.count(history.earlierCount)) operations finished before the recording began. They are not included."
      )
    }
    if history.operations.count == RunHistory.operationLimit {
      remarks.append(
        "Only the first \(HTMLText.count(RunHistory.operationLimit)) operations are included.")
    }
    if let fault = history.fault { remarks.append(HTMLText.escaped(fault) + ".") }
    if let farewell = history.farewell, !farewell.isEmpty {
      remarks.append("The recording ended: \(HTMLText.escaped(farewell)).")
    }
    return remarks.map { "<p class=\"remark\">\($0)</p>" }.joined(separator: "\n")
  }

  // MARK: Figures

  private func tiles(_ concurrency: ConcurrencyChart) -> String {
    let operations = history.operations.values
    let failed = operations.count { $0.state == .failed }
    let finished = operations.count { $0.state == .finished } + failed
    let cancelled = operations.count { $0.state == .cancelled }
    let unfinished = operations.count { !$0.state.isOver && !history.isGone($0.id) }
    let run = Distribution(operations.lazy.compactMap(\.work))
    let wait = Distribution(operations.lazy.compactMap(\.slotWait))
    var tiles: [(value: String, label: String, detail: String)] = [
      (
        HTMLText.count(finished), "finished",
        "\(HTMLText.count(failed)) failed, \(HTMLText.count(cancelled)) cancelled"
      ),
      (
        HTMLText.count(unfinished), "unfinished",
        "at the end of the recording"
      ),
      (
        HTMLText.count(concurrency.executing.peak), "maximum executing",
        "\(HTMLText.number((concurrency.executing.mean * 10).rounded() / 10)) on average"
      ),
    ]
    if let run { tiles.append(tile("run time", run)) }
    if let wait { tiles.append(tile("slot wait", wait)) }
    let items = tiles.map {
      "<div><b>\($0.value)</b><span>\($0.label)</span><small>\($0.detail)</small></div>"
    }
    return "<div class=\"tiles\">\(items.joined())</div>"
  }

  private func tile(
    _ label: String, _ distribution: Distribution
  ) -> (value: String, label: String, detail: String) {
    (
      HTMLText.duration(distribution.percentile(50)), "median \(label)",
      "90 % within \(HTMLText.duration(distribution.percentile(90))), longest \(HTMLText.duration(distribution.longest))"
    )
  }

  // MARK: Sections

  private var pathContent: String {
    path.map { PathSection(history, $0, axis).html }
      ?? "<p>No operation finished during the recording.</p>"
  }

  private func concurrencyContent(_ chart: ConcurrencyChart) -> String {
    let how =
      chart.isSampled
      ? "Calculated from the counts of each update, because not every operation was recorded."
      : "Calculated from the times of each operation, and averaged over each step of the chart."
    return "\(chart.drawing)<p class=\"note\">\(how)</p>"
  }

  private var kindContent: String {
    kinds.isEmpty
      ? "<p>No operation both started and finished during the recording.</p>"
      : KindTable(kinds, colors).html
  }

  private var warningContent: String {
    guard !history.warnings.isEmpty else { return "<p>No warnings.</p>" }
    let rows = history.warnings.prefix(Self.warningLimit).map { spell in
      let warning = spell.warning
      let about = warning.operations.prefix(5).map { "\($0)" }.joined(separator: " ")
      let first = warning.operations.first.flatMap { history.operations[$0]?.title } ?? ""
      let title = HTMLText.escaped(warning.title.isEmpty ? first : warning.title)
      let length = spell.last - spell.first
      let queue = warning.queue.map { HTMLText.escaped(history.name(of: $0)) } ?? ""
      return """
        <tr><td>\(HTMLText.escaped(warning.kind.rawValue))</td>\
        <td>\(about) \(title)</td><td>\(queue)</td>\
        <td class="n">\(HTMLText.duration(spell.first - axis.start))</td>\
        <td class="n">\(length > .zero ? HTMLText.duration(length) : "one update")</td>\
        <td class="n">\(HTMLText.count(warning.count))</td></tr>
        """
    }
    let left = history.warnings.count - rows.count
    let note =
      left > 0 ? "<p class=\"note\">\(HTMLText.count(left)) more warnings are not shown.</p>" : ""
    return """
      <div class="scroll"><table><thead><tr><th>warning</th><th>about</th><th>queue</th>\
      <th class="n">from</th><th class="n">lasted</th><th class="n">operations</th></tr></thead>
      <tbody>\(rows.joined(separator: "\n"))</tbody></table></div>\(note)
      """
  }
}
