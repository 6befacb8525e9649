// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Copies the selected line to the terminal's clipboard.
  mutating func copySelected() -> [Effect] {
    guard let line = selectedLine else {
      show("no line is selected", isWarning: true)
      return [.bell]
    }
    // No terminal confirms that it has accepted the text.
    show("sent to the terminal's clipboard: \(line.clipped(to: 200))")
    return [.copy(line)]
  }

  /// The selected line as text, with whole names, without colors and marks; `nil` if no line is selected. The text is
  /// unsanitised.
  var selectedLine: String? {
    switch screenContext {
    case .list, .detail, .queue: return selected.map { line(of: $0) }
    case .tree:
      if let id = tree?.selectedQueue { return shown.queue(id).map { line(of: $0) } }
      return tree?.selectedOperation.map { line(of: $0) }
        ?? tree.flatMap { selectedSpecialLine(of: $0) }
    case .queues: return queues.id.flatMap { shown.queue($0) }.map { line(of: $0) }
    case .timeline:
      if let run = timeline.run { return line(of: run) }
      return timeline.queue.flatMap { shown.queue($0) }.map { line(of: $0) }
    case .events: return events.number.flatMap { shown.events[$0] }.flatMap { line(of: $0) }
    case .log: return selectedLogLine
    case .warnings: return selectedWarning.map { line(of: $0) }
    case .groups: return shownGroups?.selected.map { line(of: $0) }
    case .picker, .help, .question, .setup: return nil
    }
  }

  private var copyGlyphs: Glyphs { Glyphs(isUnicode: configuration.isUnicode) }

  /// The maximum number of characters of a part of a copied line. The clipboard of a terminal accepts no longer text.
  private static let longestPart = 60_000

  private func joined(_ parts: [String?]) -> String {
    parts.compactMap { $0?.clipped(to: Self.longestPart) }.filter { !$0.isEmpty }
      .joined(separator: "  ")
  }

  private func line(of id: OperationReport.ID) -> String {
    guard let report = shown.operations[id] else { return "\(id)" }
    return joined([
      "\(id)", report.state.rawValue, shown.queue(report.queue)?.name,
      report.timeText(at: shown.moment(for: id, at: shownTime)), report.title,
    ])
  }

  private func line(of queue: QueueReport) -> String {
    joined(
      [
        queue.label, queue.width.map { "width \($0)" }, queue.isSuspended ? "suspended" : nil,
        queue.startLimit?.text,
      ] + numbers(of: queue.counts))
  }

  private func numbers(of counts: StateCounts) -> [String] {
    let numbers = [
      (counts.executing, "executing"), (counts.ready - counts.held, "ready"),
      (counts.held, "held"), (counts.waiting, "waiting"), (counts.failed, "failed"),
      (counts.finished, "finished"), (counts.cancelled, "cancelled"),
    ]
    return numbers.map { "\($0) \($1)" }
  }

  private func line(of group: OperationGroups.Group) -> String {
    let times = [("wait", group.times.wait), ("run", group.times.run)].compactMap { name, times in
      times.map {
        "\(name) p50 \(TimeText.fine($0.p50, copyGlyphs)) p99 \(TimeText.fine($0.p99, copyGlyphs))"
      }
    }
    return joined([shown.title(of: group.key)] + numbers(of: group.counts) + times)
  }

  /// Returns the selected row of a tree as text if it represents no single operation and no queue; `nil` if it has no
  /// text.
  private func selectedSpecialLine(of tree: TreeState) -> String? {
    guard !tree.isGhost, let row = tree.tree.rows.first(where: { $0.id == tree.cursor }) else {
      return nil
    }
    switch row.id {
    case .group(let group):
      guard case .group(let count, let first, let last) = row.note else { return nil }
      return joined(["\(count) \(group.state.rawValue)", group.kind, "\(first) to \(last)"])
    case .attempt(let number, let id):
      let attempts = shown.operations[id]?.attempts?.attempts ?? []
      guard let attempt = attempts.first(where: { $0.number == number }) else { return nil }
      let name = attempt.name.isEmpty ? attempt.kind : attempt.name
      return joined(["attempt \(number) of \(id)", attempt.state.rawValue, name])
    case .folded(let id):
      guard case .folded(let count, let attemptCount) = row.note else { return nil }
      let counts = [(count, "operation"), (attemptCount, "attempt")].filter { $0.0 > 0 }
      return joined(["folded below \(id)"] + counts.map { CountText.text($0, $1) })
    case .unknown(let parent):
      guard case .unknown(let count, _) = row.note else { return nil }
      return joined(["below \(parent)", "\(count) without details"])
    case .cut: return "more rows"
    case .node, .reference, .queue: return nil
    }
  }

  private func line(of run: OperationRun) -> String {
    let time = (run.finished ?? shownTime) - run.started
    return joined([
      "\(run.id)", run.state.rawValue, shown.queue(run.queue)?.name, TimeText.duration(time),
      run.title,
    ])
  }

  private func line(of line: EventLog.Line) -> String? {
    switch line {
    case .event(let event): self.line(of: event)
    case .skipped(let count): "\(CountText.text(count, "event")) not shown"
    case .beginning: nil
    }
  }

  private func line(of event: OperationEvent) -> String {
    let time = shown.hello.map { TimeText.preciseTimeOfDay(event.time, of: $0) }
    let old = event.old.map { "\($0.rawValue) \(copyGlyphs.arrow) " } ?? ""
    return joined([
      time, "\(event.operation)", old + event.new.rawValue, shown.queue(event.queue)?.name,
      event.title,
    ])
  }

  private func line(of warning: MonitorWarning) -> String {
    let text = WarningText(dashboard: self, glyphs: copyGlyphs)
    return joined([warning.kind.rawValue, text.sentence(warning)])
  }

  /// The line of the log screen with the selected match or, if there is none, the last line on the screen; `nil` if the
  /// screen has no line.
  private var selectedLogLine: String? {
    guard let log = detail?.log else { return nil }
    let rows = logRows
    let last = log.visible(in: rows, height: detailHeight).last.map { rows.rows[$0].place.line }
    return [log.match, last].compactMap { $0 }.lazy.compactMap { rows.text(ofLine: $0) }.first
  }
}
