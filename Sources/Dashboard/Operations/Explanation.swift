// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A description of an operation in one sentence: its state, or why it does not run.
struct Explanation {
  let monitored: MonitoredState
  let now: MonitorTime
  /// Whether commands are refused. If so, the sentence does not mention keys that change the process.
  let isReadOnly: Bool
  let glyphs: Glyphs
  /// The number of cells for the sentence; `nil` if the sentence may have any length. A sentence about many
  /// dependencies names only as many of them as have room. A sentence about a ready operation leaves out its end.
  var columns: Int?

  /// The maximum number of dependencies that a sentence about an operation names.
  private static let namedLimit = 4
  /// The maximum number of dependencies that are examined to describe one operation.
  static let lookLimit = 10_000
  /// The maximum number of cells of an error's text in a sentence.
  private static let errorWidth = 200

  /// Returns the sentence about an operation, without the operation's id.
  func sentence(about report: OperationReport) -> String {
    if !report.state.isOver, let reason = monitored.process(of: report.id)?.endedReason {
      return "was \(report.state.rawValue) when the process ended: \(reason)"
    }
    if let deadlock = deadlock(of: report) { return "\(deadlock): deadlock" }
    if let status = report.statusText, monitored.hello?.canHold == true, report.state.mayBeHeld {
      return status
    }
    return switch report.state {
    case .executing: executing(report)
    case .cancelling: cancelling(report)
    case .ready: ready(report)
    case .held: fitting(suspended(report).map { "held: \($0)" })
    case .waiting: waiting(report)
    case .finished, .failed, .cancelled: over(report)
    }
  }

  /// Returns what an operation waits for because of a deadlock; `nil` if no warning about a deadlock names the
  /// operation as one that waits.
  private func deadlock(of report: OperationReport) -> String? {
    guard !report.state.isOver,
      let warning = monitored.warnings.first(where: {
        $0.isDeadlock && $0.operations.contains(report.id)
      })
    else { return nil }
    if warning.kind == .neverEnqueuedDependency {
      let awaited = warning.awaited.first.map { "\($0) " } ?? ""
      let title = glyphs.clipped(warning.awaitedTitle, to: 24)
      return "waits for \(awaited)\(title), which is not enqueued"
    }
    let awaited = monitored.obstacle(to: report)?.operations.first
    let waits = awaited.map { "waits for \($0)" } ?? "waits"
    let count = warning.operations.count
    return warning.kind == .cycle
      ? "\(waits) in a cycle of \(CountText.text(count, "operation"))"
      : "holds a slot of \(queueName(report) ?? "its queue") and \(waits)"
  }

  private func executing(_ report: OperationReport) -> String {
    let dependentCount = report.dependentCount
    let verb = dependentCount == 1 ? "waits" : "wait"
    let blocked = dependentCount == 0 ? "" : ", \(CountText.text(dependentCount)) \(verb) for it"
    let queue = queueName(report).map { " on \($0)" } ?? ""
    let attempts = attempts(of: report)
    let progress = ProgressText(report, in: monitored, at: now)
    let words = [
      attempts?.progress, attempts?.pause, progress?.percent ?? progress?.counts,
      progress?.timeLeft,
    ].compactMap { $0 }.map { ", \($0)" }.joined()
    let failure = attempts?.failure(width: Self.errorWidth).map { "; \($0)" } ?? ""
    return "executing \(age(report))\(queue)\(words)\(blocked)\(failure)"
  }

  private func cancelling(_ report: OperationReport) -> String {
    let cause = monitored.cancellationWords(about: report, glyphs).map { "cancelled \($0); " }
    if report.started != nil {
      return (cause ?? "cancel ") + "requested \(age(report)) ago, still running"
    }
    let start = cause.map { "\($0)it has not started; " } ?? "cancelled before it started; "
    if monitored.queue(report.queue)?.isSuspended == true {
      let key = isReadOnly ? "" : " (S)"
      return "\(start)finishes when \(queueName(report) ?? "its queue") is resumed\(key)"
    }
    return "\(start)its queue will remove it without running it"
  }

  private func ready(_ report: OperationReport) -> String {
    guard let queue = monitored.queue(report.queue) else { return "ready" }
    let name = glyphs.clipped(queue.name, to: 24)
    let place = PositionText(report, in: monitored).map { "\($0.ordinal) in \(name)" }
    if let width = queue.width, queue.counts.executing >= width {
      let count = "\(CountText.text(queue.counts.executing))/\(CountText.text(width))"
      let ready = place.map { "ready, \($0)" } ?? "ready"
      let slots = place == nil ? "all slots of \(name)" : "all slots"
      let reason =
        monitored.deadlocked.queues.contains(queue.id)
        ? "a deadlock holds \(slots) (\(count))" : "\(slots) are in use (\(count))"
      return place == nil ? "\(ready); \(reason)" : fitting(["\(ready); \(reason)", ready])
    }
    let ready = place.map { "ready, \($0)" } ?? "ready in queue \(name)"
    return fitting(reasons(of: report, in: queue).map { ready + $0 } + [ready])
  }

  /// Returns what a ready operation waits for although a slot is free, as the end of a sentence, the longest form first.
  /// Without the details of the operation, it is not known whether the queue's limit of starts is reached.
  private func reasons(of report: OperationReport, in queue: QueueReport) -> [String] {
    guard let limit = queue.startLimit else { return [", not started yet"] }
    let detail = monitored.detail.flatMap { $0.id == report.id ? $0 : nil }
    let isReached = detail?.reasons.contains { $0.kind == .startLimitReached }
    return switch isReached {
    case true?:
      ["; waits for the limit of starts, \(limit.text)", "; waits for the limit \(limit.text)"]
    case false?: [", not started yet"]
    case nil: [", not started yet; the limit of starts is \(limit.text)", ", not started yet"]
    }
  }

  /// Returns sentences about a suspended queue, the longest first.
  private func suspended(_ report: OperationReport) -> [String] {
    let name = queueName(report) ?? "its queue"
    let place =
      PositionText(report, in: monitored).map { "\($0.ordinal) in \(name), which" } ?? name
    let words = "\(place) is suspended"
    return isReadOnly ? [words] : ["\(words); press S to resume it", "\(words); press S", words]
  }

  /// Returns the first sentence that has room, or the last one.
  private func fitting(_ sentences: [String]) -> String {
    let sentence = sentences.first { glyphs.width(of: $0) <= columns ?? .max }
    return sentence ?? sentences.last ?? ""
  }

  private func waiting(_ report: OperationReport) -> String {
    let total = report.dependencies.count
    if report.isExcluded {
      return "waiting for an exclusion that another operation holds"
    }
    guard report.unmetDependencyCount > 0 else {
      if let delay = DelayText(report, at: monitored.moment(for: report.id, at: now)) {
        return delay.sentence
      }
      return total == 0
        ? "waiting: its own isReady is false"
        : "waiting: all \(CountText.text(total)) dependencies are met, but its own isReady is false"
    }
    let unmet = unmetDependencies(of: report)
    let first = unmet.first.map { report in
      let age = report.state == .executing ? " \(age(report))" : ""
      return "\(report.id) \(report.state.rawValue)\(age)"
    }
    let isCut = total > Self.lookLimit
    let count = isCut ? report.unmetDependencyCount : unmet.count
    // The process says which dependencies are not in a queue. Nothing is known about other dependencies that
    // it has not reported.
    let missing = isCut ? 0 : report.unmetDependencyCount - unmet.count
    let neverAdded = missing > 0 ? neverAddedDependencies(of: report) : 0
    let unknown = missing - neverAdded
    func sentence(naming namedCount: Int, isShort: Bool = false) -> String {
      let named = first.prefix(namedCount).joined(separator: ", ")
      let more = count > namedCount ? " and \(CountText.text(count - namedCount)) more" : ""
      let others = [(neverAdded, "not in a queue"), (unknown, "unknown")].map { count, word in
        count > 0 ? "\(CountText.text(count)) \(word)" : ""
      }
      let parts = ([named + more] + others).filter { !$0.isEmpty }.joined(separator: ", ")
      let unmetCount = report.unmetDependencyCount
      let words = CountText.text(unmetCount)
      return isShort
        ? "waits for \(words) dependenc\(unmetCount == 1 ? "y" : "ies"): \(parts)"
        : "waits for \(words) of \(CountText.text(total)) dependencies: \(parts)"
    }
    // If the sentence is too long, it names fewer dependencies, but always contains the number of
    // dependencies that it does not name.
    let fewest = min(1, first.count)
    for namedCount in stride(from: first.count, through: fewest, by: -1) {
      let candidate = sentence(naming: namedCount)
      guard let columns, glyphs.width(of: candidate) > columns else { return candidate }
    }
    return sentence(naming: fewest, isShort: true)
  }

  /// Returns the number of known unfinished dependencies, and the first of them in the order of the list. Only
  /// the first dependencies of an operation with very many are examined.
  private func unmetDependencies(
    of report: OperationReport
  ) -> (count: Int, first: [OperationReport]) {
    var count = 0
    var first: [(key: SortKey, report: OperationReport)] = []
    for id in report.dependencies.prefix(Self.lookLimit) {
      guard monitored.operations.state(of: id)?.isOver == false,
        let report = monitored.operations[id]
      else { continue }
      count += 1
      let key = SortKey(report)
      if first.count == Self.namedLimit, let last = first.last, last.key < key { continue }
      first.insert((key, report), at: first.firstIndex { key < $0.key } ?? first.count)
      if first.count > Self.namedLimit { first.removeLast() }
    }
    return (count, first.map(\.report))
  }

  /// Returns the number of dependencies that are not in a queue, as the process has reported.
  private func neverAddedDependencies(of report: OperationReport) -> Int {
    report.dependencies.count { id in
      !monitored.operations.contains(id) && monitored.isNeverAdded(id, neededBy: report.id)
    }
  }

  private func over(_ report: OperationReport) -> String {
    var sentence = report.state.rawValue
    if let hello = monitored.hello, let finished = report.finished {
      sentence += " at \(TimeText.timeOfDay(finished, of: hello))"
    }
    var reason = report.errorText.map { ": \($0.clipped(to: Self.errorWidth))" } ?? ""
    if let words = monitored.cancellationWords(about: report, glyphs) {
      let moment = sentence.dropFirst(report.state.rawValue.count)
      sentence = "cancelled \(words)" + (moment.isEmpty ? "" : ";\(moment)")
      reason = ""
    }
    guard let ran = report.time(at: now) else {
      // If the start time is unknown, the operation never ran, or it started before the dashboard watched it.
      return report.state == .cancelled && report.added != nil
        ? "\(sentence), never started\(reason)" : sentence + reason
    }
    let attempts = attempts(of: report).map { ", \($0.progress)" } ?? ""
    return "\(sentence), ran \(TimeText.duration(ran))\(attempts)\(reason)"
  }

  private func attempts(of report: OperationReport) -> AttemptText? {
    AttemptText(report, at: monitored.moment(for: report.id, at: now))
  }

  private func age(_ report: OperationReport) -> String {
    report.timeText(at: monitored.moment(for: report.id, at: now)) ?? glyphs.unknown
  }

  private func queueName(_ report: OperationReport) -> String? {
    monitored.queue(report.queue).map { glyphs.clipped($0.name, to: 24) }
  }
}

extension MonitoredState {
  /// The words about what cancelled operations.
  func cancellationText(_ glyphs: Glyphs) -> CancellationText {
    CancellationText(
      isUnicode: glyphs.isUnicode, queueName: { self.queue($0)?.name },
      report: { self.operations[$0] })
  }

  /// Returns the words that follow “cancelled” in a sentence about an operation; `nil` if the operation was
  /// not cancelled or the cause is unknown.
  func cancellationWords(about report: OperationReport, _ glyphs: Glyphs) -> String? {
    guard report.cancellationCause != nil else { return nil }
    var text = cancellationText(glyphs)
    return text.words(about: report)
  }
}
