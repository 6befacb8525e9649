// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The rows of the detail screen of one operation, from the top of the screen.
struct DetailRows {
  enum Row {
    /// Text over the whole width of the screen.
    case line([Span])
    /// One line of a text that is broken into several lines. The first line has a mark to its left. The mark
    /// of the other lines is empty.
    case wrapped(Span, [Cell])
    /// A text in the left half of the screen and a text in the right half.
    case halves([Span], [Span])
    /// A horizontal rule with a title, and an optional title for the right half.
    case rule(String, String? = nil)
    /// A row of the tree of the dependencies, and a row of the tree of the dependents.
    case trees(DependencyTree.Row?, DependencyTree.Row?)
  }

  /// The minimum width of a screen that is divided into a left and a right half.
  static let halvesThreshold = 64
  /// The column at which the lines of a broken text begin. The mark of the text is to the left of this
  /// column.
  static let textIndent = 3
  /// The minimum number of log lines on the detail screen.
  private static let fewestLogLines = 5
  /// The number of rows of the trees for which the log lines leave room.
  private static let treeRowsBesideLog = 3
  /// The maximum number of lines of one text. Longer texts are cut.
  private static let textLineLimit = 20

  private let dashboard: Dashboard
  private let columns: Int
  private let glyphs: Glyphs
  private(set) var rows: [Row] = []

  /// Creates the rows of an operation for a screen of this width.
  init(of id: OperationReport.ID, in dashboard: Dashboard, columns: Int, glyphs: Glyphs) {
    self.dashboard = dashboard
    self.columns = columns
    self.glyphs = glyphs
    guard let report = dashboard.shown.operations[id] else {
      let words =
        dashboard.replay == nil
        ? "The operation has finished. Its details are no longer stored."
        : "The operation is not in the recording at this time."
      rows = [.line([Span(words, .dim)])]
      return
    }
    addFacts(report)
    addAttempts(report)
    addWarnings(id)
    addReasons(id)
    addLife(report)
    addLog(id)
    addTrees(report)
  }

  private var monitored: MonitoredState { dashboard.shown }

  private mutating func addFacts(_ report: OperationReport) {
    let facts = DetailFacts(report: report, dashboard: dashboard, glyphs: glyphs)
    if columns < Self.halvesThreshold {
      rows += (facts.identity + facts.times).filter { !$0.isEmpty }.map { .line($0) }
    } else {
      rows += zip(facts.identity, facts.times).map { .halves($0, $1) }
    }
    rows.append(.line(facts.flags))
    if let progress = facts.progress(cells: columns >= Self.halvesThreshold ? 20 : 10) {
      rows.append(.line(progress))
    }
    if let delay = delay(of: report) { addWrapped(delay, mark: "-", role: .text) }
    if let status = report.statusText { addWrapped("status: \(status)", mark: "-", role: .text) }
    rows += facts.cancelRequest(isWide: columns >= Self.halvesThreshold).map { .line($0) }
    if let cause = cancellation(of: report) {
      addWrapped(cause, mark: "-", role: .text)
    }
    if let error = report.errorText { addWrapped("error: \(error)", mark: "!", role: .failed) }
  }

  /// Returns the time left of a delay; `nil` if the operation waits for none, or if the reasons why the operation is
  /// not running say it. A recording contains no such reasons.
  private func delay(of report: OperationReport) -> String? {
    let detail = monitored.detail.flatMap { $0.id == report.id ? $0 : nil }
    guard detail?.reasons.contains(where: { $0.kind == .delayed }) != true else { return nil }
    return DelayText(report, at: monitored.moment(for: report.id, at: dashboard.shownTime))?.words
  }

  /// Returns a sentence about what cancelled the operation; `nil` if nothing is known, or if the line about the
  /// request of a viewer already says it.
  private func cancellation(of report: OperationReport) -> String? {
    if case .viewer(let origin)? = report.cancellationCause, origin == report.cancelRequester {
      return nil
    }
    return monitored.cancellationWords(about: report, glyphs).map { "cancelled \($0)" }
  }

  private mutating func addAttempts(_ report: OperationReport) {
    let now = monitored.moment(for: report.id, at: dashboard.shownTime)
    guard let text = AttemptText(report, at: now) else { return }
    let words = [text.progress, text.pause].compactMap { $0 }.joined(separator: ", ")
    rows.append(.rule(words))
    if let failure = text.failure() { addWrapped(failure, mark: "!", role: .failed) }
    rows += text.list.map { .line($0) }
  }

  private mutating func addWarnings(_ id: OperationReport.ID) {
    let text = WarningText(dashboard: dashboard, glyphs: glyphs)
    for warning in monitored.warnings
    where warning.operations.contains(id) || warning.awaited.contains(id) {
      let sentence = "\(warning.kind.rawValue): \(text.sentence(warning))"
      addWrapped(sentence, mark: "!", role: .warning)
    }
  }

  private mutating func addReasons(_ id: OperationReport.ID) {
    guard let detail = monitored.detail, detail.id == id else { return }
    if !detail.reasons.isEmpty {
      rows.append(.rule("why the operation is not running"))
      for (index, reason) in detail.reasons.enumerated() {
        addWrapped(reason.sentence, mark: "\(index + 1)", role: .text)
      }
    }
    let awaited =
      detail.awaitedOperations.map { dashboard.describe($0) }
      + detail.awaitedQueues.compactMap { monitored.queue($0).map { "queue \($0.name)" } }
    guard !awaited.isEmpty else { return }
    rows.append(.rule("what the operation's code waits for"))
    for description in awaited { addWrapped(description, mark: "-", role: .text) }
  }

  private mutating func addWrapped(_ text: String, mark: String, role: Role) {
    let wrapped = WrappedText(
      text, columns: columns - 2 - Self.textIndent, lineLimit: Self.textLineLimit,
      style: Style(role), isUnicode: glyphs.isUnicode)
    for (index, line) in wrapped.lines.enumerated() {
      let mark = Span(index == 0 ? mark : "", role == .text ? .accent : role)
      rows.append(.wrapped(mark, line))
    }
  }

  private mutating func addLife(_ report: OperationReport) {
    let life = DetailLife(
      report: report, now: monitored.moment(for: report.id, at: dashboard.shownTime))
    guard !life.phases.isEmpty else { return }
    rows.append(.rule("life"))
    rows += life.rows(columns: columns - 2, glyphs: glyphs).map { .line($0) }
    rows += usualTimes(of: report).map { .line($0) }
  }

  /// Returns how long recent operations of the operation's kind waited and ran.
  private func usualTimes(of report: OperationReport) -> [[Span]] {
    guard let times = monitored.kindTimes[report.kind] else { return [] }
    return [("run", times.run), ("slot wait", times.wait)].compactMap { label, times in
      guard let times else { return nil }
      let parts = [("p50", times.p50), ("p90", times.p90), ("p99", times.p99)].map {
        "\($0.0) \(TimeText.fine($0.1, glyphs))"
      }
      return [
        Span(label.padded(to: DetailFacts.labelWidth), .dim),
        Span(parts.joined(separator: "  ")),
        Span(
          "  \(report.kind.clipped(to: 24)) (n=\(CountText.text(times.count)))", .dim),
      ]
    }
  }

  /// Adds the last log lines, as many as fit between the rows above and the first rows of the trees.
  private mutating func addLog(_ id: OperationReport.ID) {
    guard let log = monitored.log(of: id), !log.lines.isEmpty else { return }
    let room = dashboard.detailHeight - rows.count - 1 - Self.treeRowsBesideLog
    let lines = log.lines.suffix(max(Self.fewestLogLines, room))
    let all = CountText.text(Int(clamping: log.end), "log line")
    rows.append(.rule(log.end == lines.count ? all : "last \(lines.count) of \(all); L shows all"))
    rows += lines.map { line in
      let head = LogRows.head(of: line, monitored.hello, columns: columns, glyphs)
      return .line(head + [Span(line.text, LogRows.textStyle(of: line.level).role)])
    }
  }

  private mutating func addTrees(_ report: OperationReport) {
    guard let trees = dashboard.screen.pane else { return }
    let total = report.dependencies.count
    let unmet = report.unmetDependencyCount
    let met = total == 0 ? "" : unmet == 0 ? ", all met" : ", \(CountText.text(unmet)) unmet"
    func operations(_ count: Int) -> String {
      CountText.text(count, "operation")
    }
    let left = Array(trees.waitsFor?.rows.dropFirst() ?? [])
    let right = Array(trees.blocks?.rows.dropFirst() ?? [])
    let titles = (
      "depends on \(operations(total))\(met)", "blocks \(operations(report.dependentCount))"
    )
    if columns < Self.halvesThreshold {
      rows += [.rule(titles.0)] + left.map { .trees($0, nil) }
      rows += [.rule(titles.1)] + right.map { .trees($0, nil) }
      return
    }
    rows.append(.rule(titles.0, titles.1))
    for index in 0..<max(left.count, right.count, 1) {
      rows.append(
        .trees(
          index < left.count ? left[index] : nil, index < right.count ? right[index] : nil))
    }
  }
}
