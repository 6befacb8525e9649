// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The known facts of one operation, with a line for each fact.
struct DetailFacts {
  static let labelWidth = 11

  let report: OperationReport
  let dashboard: Dashboard
  let glyphs: Glyphs

  /// The operation's process, if several processes are watched; otherwise an empty array.
  private var process: [ProcessReport] {
    monitored.process(of: report.id).map { [$0] } ?? []
  }

  /// The facts that identify the operation, one fact in each line. The number of lines is the same as in
  /// ``times``.
  var identity: [[Span]] {
    let queue = monitored.queue(report.queue)
    let facts = [
      fact(report.kindFact.0, report.kindFact.1),
      fact("queue", queue.map { words(about: $0) } ?? [Span(glyphs.unknown)]),
      fact("priority", [Span(report.priority.word)]),
      fact("qos", [Span(quality?.rawValue ?? glyphs.unknown)]),
      fact("depends", [Span(DependencyText.met(report)), Span(" met", .dim)]),
    ]
    return facts
      + process.map { process in
        let reason = process.endedReason.map { [Span("  \($0)", .warning)] } ?? []
        return fact("process", [Span(process.title)] + reason)
      }
  }

  /// The quality of service; `nil` if it is unknown. The list shows it too, from the operation's report. A process with
  /// an older version of opq sends it only in the details of an operation that has not finished.
  private var quality: OperationQualityOfService? {
    if report.qualityOfService != .default { return report.qualityOfService }
    let isReported = monitored.detail?.id == report.id && dashboard.replay == nil
    return isReported ? monitored.detail?.qualityOfService : nil
  }

  /// The times at which the operation changed its state.
  var times: [[Span]] {
    [
      fact("added", moment(report.added)),
      fact("ready", moment(report.becameReady)),
      fact("started", moment(report.started)),
      fact("cancelled", cancellation),
      fact(report.state == .failed ? "failed" : "finished", moment(report.finished)),
    ] + process.map { _ in [] }
  }

  /// The values of `isReady`, `isExecuting`, `isCancelled` and `isFinished`, as the operation's state
  /// determines them.
  var flags: [Span] {
    let isStarted = report.started != nil && !report.state.isOver
    let isExecuting = report.state == .executing || report.state == .cancelling && isStarted
    let isCancelled = report.state == .cancelling || report.state == .cancelled
    let values = [
      ("isReady", report.state != .waiting), ("isExecuting", isExecuting),
      ("isCancelled", isCancelled), ("isFinished", report.state.isOver),
    ]
    return [Span("flags".padded(to: Self.labelWidth), .dim)]
      + values.flatMap { name, value in
        [
          Span("\(name) ", value ? .text : .dim),
          Span("\(value ? 1 : 0)  ", value ? .accent : .dim, isBold: value),
        ]
      }
  }

  /// Returns the bar, the numbers, the rate and the time left of the operation's progress; `nil` if it has none.
  func progress(cells: Int) -> [Span]? {
    let now = dashboard.shownTime
    guard let text = ProgressText(report, in: monitored, at: now) else { return nil }
    let bar = text.bar(cells: cells, glyphs: glyphs)
    let words = [text.percent, text.counts, text.rate, text.timeLeft].compactMap { $0 }
    let end = (bar.isEmpty ? "" : " ") + words.joined(separator: "  ")
    return fact("progress", bar + [Span(end)])
  }

  /// Returns lines about a cancellation that a viewer requested: the process of the viewer and the result.
  /// Returns no lines if no viewer requested cancellation.
  func cancelRequest(isWide: Bool) -> [[Span]] {
    guard let requester = report.cancelRequester else { return [] }
    let user = "uid \(requester.userID)"
    let who = Span(
      requester.processID == 0
        ? "by \(user) (pid unknown)" : "by pid \(requester.processID) \(user)")
    guard let asked = report.cancelRequested, let hello = monitored.hello else {
      return [fact("cancel", [Span("requested ", .dim), who])]
    }
    let time = Span("at \(TimeText.preciseTimeOfDay(asked, of: hello)) ")
    let outcome = Span(" (\(outcome(of: asked)))", .cancelling)
    return isWide
      ? [fact("cancel", [time, who, outcome])] : [fact("cancel", [time]), fact("", [who])]
  }

  private func outcome(of asked: MonitorTime) -> String {
    if let finished = report.finished {
      let delay = TimeText.duration(finished - asked)
      return "\(report.state.rawValue) \(delay) later"
    }
    let age = "\(TimeText.duration(dashboard.shownTime - asked)) ago"
    return report.started == nil ? "\(age), not started" : "\(age), still running"
  }

  private var monitored: MonitoredState { dashboard.shown }

  private func fact(_ label: String, _ value: [Span]) -> [Span] {
    [Span(label.padded(to: Self.labelWidth), .dim)] + value
  }

  private func words(about queue: QueueReport) -> [Span] {
    let running = CountText.text(queue.counts.executing)
    let slots =
      queue.width.map { "\(running) of \(CountText.text($0)) slots" } ?? "\(running) executing"
    return [
      Span(queue.name.clipped(to: 20)),
      queue.isSuspended ? Span("  suspended", .held, isBold: true) : Span("  \(slots)", .dim),
    ]
  }

  /// Returns the time of day of a moment, and the time between adding the operation and the moment.
  private func moment(_ moment: MonitorTime?) -> [Span] {
    guard let moment, let hello = monitored.hello else { return [Span(glyphs.unknown, .dim)] }
    let time = Span(TimeText.preciseTimeOfDay(moment, of: hello))
    guard let added = report.added, moment != added else { return [time] }
    return [time, Span("  +\(TimeText.fine(moment - added, glyphs))", .dim)]
  }

  private var cancellation: [Span] {
    guard let asked = report.cancelRequested else { return moment(nil) }
    guard report.state == .cancelling else { return moment(asked) }
    let age = TimeText.duration(dashboard.shownTime - asked)
    let words =
      report.started == nil ? "\(age) ago, not started" : "\(age) ago, still running"
    return [Span(words, .cancelling)]
  }
}
