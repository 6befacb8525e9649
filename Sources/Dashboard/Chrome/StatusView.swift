// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Draws the rows below the list: the sentence about the selected operation, the status line and the footer.
struct StatusView {
  let dashboard: Dashboard
  let layout: Layout

  /// The minimum width of a screen with room for the long prompt for a cancel key.
  private static let keyPromptWidth = 72

  func draw(on canvas: inout Canvas) {
    drawSentence(on: &canvas)
    if let row = layout.footer { drawFooter(row, on: &canvas) }
    drawPrompt(on: &canvas)
  }

  private func drawFooter(_ row: Int, on canvas: inout Canvas) {
    guard let question = dashboard.prompts.question else {
      return FooterView(dashboard: dashboard).draw(row: row, on: &canvas)
    }
    canvas.write(
      QuestionView(dashboard: dashboard, layout: layout).consequence(of: question), row: row,
      columns: canvas.columns.dropFirst(), style: Style(.dim))
  }

  private func drawSentence(on canvas: inout Canvas) {
    // If the setup, the picker or the list of warnings is open, the view of this overlay draws the sentence below
    // its rows.
    let hasOwnSentence =
      dashboard.setup != nil || dashboard.picker != nil || dashboard.warningList != nil
    if hasOwnSentence, dashboard.screen.helpTop == nil { return }
    guard dashboard.screen.helpTop == nil, let id = dashboard.selected else { return }
    let remarks = remarks(canvas.glyphs)
    let words = remarks.isEmpty ? "" : "  \(remarks.joined(separator: ", ")) "
    if let run = dashboard.cursorRun {
      let columns = canvas.columns.dropFirst().dropLast(canvas.glyphs.width(of: words))
      RunSentence(run, in: dashboard).draw(row: layout.sentence, columns: columns, on: &canvas)
      return drawRemarks(words, on: &canvas)
    }
    guard let report = dashboard.shown.operations[id] else {
      drawForgotten(id, on: &canvas)
      return
    }
    let title = Span("\(id) ", .strong, isBold: true)
    let taken = canvas.glyphs.width(of: title.text) + canvas.glyphs.width(of: words)
    let explanation = Explanation(
      monitored: dashboard.shown, now: dashboard.shownTime, isReadOnly: dashboard.isReadOnly,
      glyphs: canvas.glyphs, columns: canvas.columns.count - 1 - taken)
    let sentence = explanation.sentence(about: report)
    canvas.write(
      [title, Span(sentence)], row: layout.sentence, columns: canvas.columns.dropFirst())
    drawRemarks(words, on: &canvas)
  }

  private func drawRemarks(_ words: String, on canvas: inout Canvas) {
    canvas.writeRight(
      words, row: layout.sentence, columns: canvas.columns, style: Style(.accent, isBold: true))
  }

  /// Returns short texts about the settings of the list and the tags.
  private func remarks(_ glyphs: Glyphs) -> [String] {
    var remarks: [String] = []
    if let search = dashboard.detail?.log?.search, let words = dashboard.logSearchWords {
      remarks.append("/\(search.clipped(to: 20)): \(words.text)")
    } else if dashboard.screen.view == .operations {
      if let search = dashboard.list.search, let words = dashboard.searchWords {
        remarks.append("/\(search.clipped(to: 20)): \(words.text)")
      }
      if dashboard.list.selection.isPinned { remarks.append("pinned") }
      if dashboard.list.listing.showsWarnedOnly { remarks.append("warnings only") }
      // If there is a rule above the list, its title shows the filter and whether finished operations are
      // hidden. Otherwise the status line shows both.
      if layout.topRule == nil {
        if dashboard.list.listing.hidesOver { remarks.append("finished hidden") }
        if let filter = dashboard.list.listing.filter {
          remarks.append("filter: \(glyphs.clipped(filter.text, to: 20))")
        }
      }
    }
    if !dashboard.tags.ids.isEmpty {
      remarks.append("\(CountText.text(dashboard.tags.ids.count)) tagged")
    }
    return remarks
  }

  /// Draws what is known about an operation that the monitor does not report: the facts that the events or the
  /// timeline contain.
  private func drawForgotten(_ id: OperationReport.ID, on canvas: inout Canvas) {
    var words =
      dashboard.replay == nil
      ? "has finished; its details are no longer stored"
      : "is not in the recording at this time"
    if let event = dashboard.selectedEvent {
      words = "\(event.new.rawValue): \(event.title)"
    }
    canvas.write(
      [Span("\(id) ", .strong, isBold: true), Span(words)], row: layout.sentence,
      columns: canvas.columns.dropFirst())
  }

  private func drawPrompt(on canvas: inout Canvas) {
    if let question = dashboard.prompts.question {
      QuestionView(dashboard: dashboard, layout: layout).draw(question, on: &canvas)
    } else if let goTo = dashboard.prompts.goTo {
      overwrite(
        [
          Span("go to \(goTo.text)", .strong),
          Span("_  Enter go \(canvas.glyphs.dot) Esc discard", .dim),
        ],
        on: &canvas)
    } else if let prompt = dashboard.prompts.text {
      draw(prompt, on: &canvas)
    } else if dashboard.prompts.isChoosingOrder {
      overwrite(SortMenuView(columns: canvas.columns.count).spans, on: &canvas)
    } else if dashboard.list.cancelKeys.isArmed {
      drawKeyPrompt(on: &canvas)
    } else if let notice = dashboard.screen.notice {
      overwrite(
        [Span(canvas.glyphs.adapted(notice.text), notice.isWarning ? .warning : .strong)],
        on: &canvas)
    } else if let opening = dashboard.connection.opening {
      overwrite(
        [Span("opening \(dashboard.name(of: opening)) \(canvas.glyphs.ellipsis)", .strong)],
        on: &canvas)
    } else if dashboard.screen.helpTop == nil, dashboard.picker == nil, dashboard.setup == nil,
      let row = layout.status, let span = statusSentence(in: canvas)
    {
      canvas.write([span], row: row, columns: canvas.columns.dropFirst())
    }
  }

  private func draw(_ prompt: TextPrompt, on canvas: inout Canvas) {
    let label: String
    var remark = Span("   Enter accept \(canvas.glyphs.dot) Esc discard", .dim)
    switch prompt.purpose {
    case .search:
      label = "find: "
      if let words = dashboard.searchWords {
        let end = " \(canvas.glyphs.dot) Enter accept \(canvas.glyphs.dot) Esc discard"
        remark = Span("   \(words.text)\(end)", words.isFailure ? .warning : .dim)
      }
    case .logSearch:
      label = "find in log: "
      if let words = dashboard.logSearchWords {
        let end = " \(canvas.glyphs.dot) Enter accept \(canvas.glyphs.dot) Esc discard"
        remark = Span("   \(words.text)\(end)", words.isFailure ? .warning : .dim)
      }
    case .filter:
      label = "filter: "
      if prompt.text.isEmpty {
        remark = Span("   for example state:exec  kind:Merge  queue:io  age>5s  !tile", .dim)
      } else if let error = dashboard.filterError {
        remark = Span("   \(error)", .warning)
      } else {
        let count = dashboard.matchCount
        let words = "\(CountText.text(count, "operation")) \(count == 1 ? "matches" : "match")"
        remark = Span("   \(words) \(canvas.glyphs.dot) Esc discard", .dim)
      }
    case .rate(let id):
      label = dashboard.rateLabel(of: id, columns: canvas.columns.count, canvas.glyphs)
      if let words = dashboard.rateRemark { remark = Span("   \(words.text)", words.role) }
    case .time:
      label = "go to: "
      if let words = dashboard.timeRemark(canvas.glyphs) {
        remark = Span("   \(words.text)", words.role)
      }
    }
    // If the typed text is too long, only its end is shown.
    let room = max(8, canvas.columns.count / 2)
    let text = String(String.UnicodeScalarView(prompt.text.unicodeScalars.suffix(room)))
    overwrite(
      [Span(label, .accent, isBold: true), Span("\(text)_", .strong), remark], on: &canvas)
  }

  private func drawKeyPrompt(on canvas: inout Canvas) {
    let typed = dashboard.list.cancelKeys.typed
    let isNarrow = canvas.columns.count < Self.keyPromptWidth
    overwrite(
      [
        Span(isNarrow ? "X: " : "cancel by key: ", .warning, isBold: true),
        Span(isNarrow ? "press a letter" : "press the letters beside the operation"),
        Span(typed.isEmpty ? "" : "  \(typed)_"),
        Span(isNarrow ? " \(canvas.glyphs.dot) Esc close" : "   Esc close", .dim),
      ], on: &canvas)
  }

  private func overwrite(_ spans: [Span], on canvas: inout Canvas) {
    canvas.clear(row: layout.prompt)
    canvas.write(spans, row: layout.prompt, columns: canvas.columns.dropFirst())
  }

  /// Returns the sentence of the status line. Until the first key, the hint replaces a standing notice, unless the
  /// header counts a warning that no other line of the screen shows.
  private func statusSentence(in canvas: Canvas) -> Span? {
    let isWarned = dashboard.shown.warnings.contains { !$0.isDeadlock }
    return (isWarned ? standingNotice(in: canvas) : nil) ?? firstHint(in: canvas)
      ?? standingNotice(in: canvas)
  }

  /// Returns a hint with the most important keys, until the user presses a key; `nil` after the first key, if
  /// no updates arrive, or if the recording has ended.
  private func firstHint(in canvas: Canvas) -> Span? {
    guard dashboard.screen.isBeforeFirstKey, dashboard.shown.hello != nil, !dashboard.live.isSilent,
      dashboard.live.silence == .zero, silence == nil, !haveJobsEnded
    else { return nil }
    let configuration = dashboard.configuration
    let isFirst = dashboard.connection.source == configuration.source
    let special =
      dashboard.connection.source == .demo
      ? configuration.guidance : isFirst ? configuration.launchHint : ""
    if !special.isEmpty { return Span(canvas.glyphs.adapted(special), .strong) }
    let keys: [KeyAction] = [
      .command(.cancel), .command(.armCancelKeys), .queue(.open), .groups(.filter), .tree(.toggle),
      .screen(.toggleHelp),
    ]
    let words = keys.compactMap { key in hintWords(about: key).map { (key, $0) } }
    let short = words.filter { $0.0 != .command(.armCancelKeys) }
    let hints = [words, short].map {
      (["j/k choose"] + $0.map(\.1)).joined(separator: " \(canvas.glyphs.dot) ")
    }
    return Span(
      hints.first { canvas.glyphs.width(of: $0) < canvas.columns.count } ?? hints[1], .strong)
  }

  /// Returns the words of the hint about a key, which are those of the footer; `nil` if the key is not in the footer of
  /// the view.
  private func hintWords(about action: KeyAction) -> String? {
    let binding = dashboard.footerBindings.first { $0.action == action }
    guard let binding, let words = binding.footerWords[dashboard.keyContext] else { return nil }
    return action == .command(.armCancelKeys)
      ? "X + letter cancels that row" : "\(binding.footerKey) \(words.lowercased())"
  }

  /// Returns a sentence about the most important lasting problem; `nil` if the process has no such problem.
  private func standingNotice(in canvas: Canvas) -> Span? {
    if let silence { return Span(silence, .warning) }
    if haveJobsEnded { return Span("all jobs have ended", .strong) }
    if dashboard.live.silence > .zero {
      return Span(
        "the process does not answer; it may be stopped, or the connection broken", .warning)
    }
    let monitored = dashboard.shown
    if dashboard.screen.view == .events, monitored.events.skippedCount > 0 {
      let events = CountText.text(monitored.events.skippedCount, "event")
      return Span("history incomplete: \(events) not shown; current states are exact", .warning)
    }
    if dashboard.screen.view == .timeline, let runs = monitored.runs, runs.count > runs.runs.count {
      let drawn = CountText.text(runs.runs.count)
      return Span(
        "only the newest \(drawn) of \(CountText.text(runs.count)) runs are shown", .warning)
    }
    if dashboard.warningList != nil { return nil }
    // Warnings about deadlocks and suspended queues are left out, because other lines of the screen show
    // them.
    let warnings = monitored.warnings.filter { !$0.isDeadlock && $0.kind != .suspendedWithReady }
    let text = WarningText(dashboard: dashboard, glyphs: canvas.glyphs)
    if let line = text.line(warnings, width: canvas.columns.count - 1) {
      return Span(line, .warning)
    }
    let suspended = monitored.queues.filter {
      $0.isSuspended && $0.counts.held > 0 && !monitored.isGone($0.id)
    }
    guard let queue = suspended.first else { return nil }
    let held = suspended.reduce(0) { $0 + $1.counts.held }
    let name = queue.label.clipped(to: 16)
    // Only a counted warning has the mark. A queue that has been suspended for a short time is no warning.
    let warned = monitored.warnings.filter { $0.kind == .suspendedWithReady }.map(\.queue)
    let mark = suspended.contains { warned.contains($0.id) } ? "! " : ""
    let names =
      suspended.count == 1
      ? "\(mark)\(name) is suspended"
      : "\(mark)\(CountText.text(suspended.count)) queues are suspended"
    let wayOut =
      dashboard.isReadOnly ? "" : ". " + wayToResume(suspended.count == 1 ? name : "one")
    let count = CountText.text(held)
    let full = "\(names) with \(count) held operation\(held == 1 ? "" : "s")\(wayOut)"
    let short = "\(names) (\(count) held)"
    let line = [full, short + wayOut, names + wayOut].first {
      canvas.glyphs.width(of: $0) < canvas.columns.count
    }
    return Span(line ?? short, .held)
  }

  /// Returns a sentence with the keys that resume a suspended queue from the present view.
  private func wayToResume(_ name: String) -> String {
    if dashboard.selectedQueue?.isSuspended == true { return "Press S to resume." }
    if dashboard.screen.view == .queues, dashboard.detail == nil {
      // The screen of a queue acts on that queue. No other queue can be selected there.
      let isOnScreenOfQueue = dashboard.openQueueScreen != nil
      return isOnScreenOfQueue
        ? "Press Esc, select \(name), press S." : "Select \(name), press S."
    }
    let times =
      (1...).first { dashboard.screen.view.neighbour($0) == .queues } ?? 1
    let tabs = times == 1 ? "Tab" : times == 2 ? "Tab twice" : "Tab \(times) times"
    return "Press \(tabs), select \(name), press S."
  }

  /// Whether the watched source has jobs, and all of them have ended.
  private var haveJobsEnded: Bool { dashboard.showsJobs && dashboard.connection.haveJobsEnded }

  /// A sentence with the reason why no updates arrive; `nil` if updates arrive.
  private var silence: String? {
    let live = dashboard.live
    if let replay = dashboard.replay, replay.position >= replay.length { return replay.remark }
    if let reason = live.disconnectedReason {
      return "connection lost: \(reason); reconnecting"
    }
    guard let reason = live.endedReason else { return nil }
    guard dashboard.isAttached else { return "ended: \(reason)" }
    let known = CountText.text(live.operations.count)
    return "\(reason); \(known) of \(CountText.text(live.counts.total)) operations can be inspected"
  }
}
