// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import MonitorProtocol

/// Describes operations and their state in lines of text, for commands that do not open the full-screen
/// dashboard. The lines contain no terminal controls, even if the names of operations contain some.
package struct PlainText: Sendable {
  /// The maximum number of columns of a line.
  private static let longest = 1_000
  /// The maximum number of operations in a chain of blockers, in which each operation waits for the next one.
  private static let longestChain = 12

  private var monitored = MonitoredState()
  private let isUnicode: Bool

  /// Creates an instance that knows no operations until it has received messages.
  ///
  /// - Parameter isUnicode: Whether lines may contain characters beyond ASCII.
  package init(isUnicode: Bool) { self.isUnicode = isUnicode }

  /// Processes a message of the monitored process.
  package mutating func take(_ message: MonitorMessage) { monitored.apply(message) }

  /// The state of the process according to the messages that have arrived.
  package var source: SourceState { monitored.source }

  private var glyphs: Glyphs { Glyphs(isUnicode: isUnicode) }

  private func line(_ text: String) -> String {
    TerminalText.printable(text, columns: Self.longest, isUnicode: isUnicode)
  }

  /// Returns a name in printable form.
  package func printable(_ name: String) -> String {
    TerminalText.printable(name, isUnicode: isUnicode)
  }

  /// Returns a log line as one line of text: the time of day in UTC, the level and the text.
  package func text(of logLine: LogLine) -> String {
    let time = monitored.hello.map { TimeText.preciseTimeOfDay(logLine.time, of: $0) }
    return line(
      "\(time ?? glyphs.unknown) \(logLine.level.rawValue.padded(to: 8)) \(logLine.text)")
  }

  // MARK: One operation

  /// Returns an operation's id and, if its name is known, the name.
  package func title(of id: OperationReport.ID) -> String {
    guard let report = monitored.operations[id], !report.title.isEmpty else { return "\(id)" }
    return line("\(id) \(report.title.clipped(to: 200))")
  }

  /// Returns a sentence about the state of an operation or the reason why it does not run. The sentence does
  /// not contain the operation's id. Returns `nil` if the operation is not known.
  package func sentence(about id: OperationReport.ID, at now: MonitorTime) -> String? {
    monitored.operations[id].map { report in
      line(
        Explanation(monitored: monitored, now: now, isReadOnly: true, glyphs: glyphs)
          .sentence(about: report))
    }
  }

  /// Returns an explanation of an operation's state, with one fact in each line; empty if the operation is
  /// not known. The lines contain a sentence about the state, all reasons why the operation does not run, the
  /// blocking waits in the operation's own code, the chain of blockers, and the warnings.
  package func explanation(of id: OperationReport.ID, at now: MonitorTime) -> [String] {
    guard let sentence = sentence(about: id, at: now) else { return [] }
    var lines = ["\(title(of: id)): \(sentence)"]
    if let detail = monitored.detail, detail.id == id {
      for (index, reason) in detail.reasons.enumerated() {
        lines.append(line("  \(index + 1) \(reason.sentence)"))
      }
      let queues = detail.awaitedQueues.map { "queue \(monitored.queue($0)?.name ?? "")" }
      for awaited in detail.awaitedOperations.map({ title(of: $0) }) + queues {
        lines.append(line("  - the operation's own code waits for \(awaited)"))
      }
    }
    lines += attempts(of: id, at: now) + reports(of: id, at: now)
    let chain = blockers(of: id)
    if let last = chain.last, let state = monitored.operations[last].map({ stateWords($0, now) }) {
      let names = chain.map { "\($0)" }.joined(separator: ", which waits for ")
      let isCircle = chain.dropLast().contains(last) || last == id
      lines.append(line("  \(id) waits for \(names) (\(isCircle ? "a cycle" : state))"))
    }
    return lines + warnings(about: id, at: now)
  }

  /// Returns a sentence about what cancelled an operation, without the operation's id; `nil` if the operation
  /// was not cancelled or the cause is unknown.
  package func cancellation(of id: OperationReport.ID) -> String? {
    guard let report = monitored.operations[id] else { return nil }
    return monitored.cancellationWords(about: report, glyphs).map { line("cancelled \($0)") }
  }

  /// Returns whether the sentence about the cancellation of an operation names an operation that is not
  /// known.
  package func isCancellationIncomplete(of id: OperationReport.ID) -> Bool {
    guard let report = monitored.operations[id] else { return false }
    var text = monitored.cancellationText(glyphs)
    return text.isIncomplete(about: report)
  }

  /// Returns a line for each known attempt of a retry, and for the last error of an attempt.
  private func attempts(of id: OperationReport.ID, at now: MonitorTime) -> [String] {
    guard let report = monitored.operations[id], let attempts = report.attempts else { return [] }
    let lines = attempts.attempts.map { attempt in
      let time = TimeText.duration(attempt.duration(at: now))
      return
        "  attempt \(attempt.number): \(attempt.id) \(attempt.title.clipped(to: 200)) \(attempt.state.rawValue) \(time)"
    }
    let failure = AttemptText(report, at: now)?.failure().map { ["  \($0)"] } ?? []
    return (lines + failure).map { line($0) }
  }

  /// Returns lines about the progress and the status that the operation's code has reported.
  private func reports(of id: OperationReport.ID, at now: MonitorTime) -> [String] {
    guard let report = monitored.operations[id] else { return [] }
    let text = ProgressText(report, in: monitored, at: now)
    let words = [text?.counts, text?.percent, text?.rate, text?.timeLeft].compactMap { $0 }
    let progress = words.isEmpty ? [] : ["  progress: \(words.joined(separator: ", "))"]
    return (progress + (report.statusText.map { ["  status: \($0)"] } ?? [])).map { line($0) }
  }

  private func stateWords(_ report: OperationReport, _ now: MonitorTime) -> String {
    let age = report.timeText(at: now).map { " \($0)" } ?? ""
    let queue = report.state == .ready ? monitored.queue(report.queue)?.name : nil
    return report.state.rawValue + age + (queue.map { " in \($0)" } ?? "")
  }

  private func warnings(about id: OperationReport.ID, at now: MonitorTime) -> [String] {
    let text = WarningText(monitored: monitored, now: now, glyphs: glyphs)
    return monitored.warnings.filter { $0.operations.contains(id) || $0.awaited.contains(id) }
      .map { line("  ! \($0.kind.rawValue): \(text.sentence($0))") }
  }

  /// Returns the chain of blockers of an operation. Each blocker is the unfinished dependency of the previous
  /// operation that will probably finish last. The chain has at most twelve operations. If the operations
  /// form a cycle, the last operation of the chain is already in the chain, or is the given operation.
  package func blockers(of id: OperationReport.ID) -> [OperationReport.ID] {
    var chain: [OperationReport.ID] = []
    var last = id
    while chain.count < Self.longestChain, let report = monitored.operations[last],
      report.state == .waiting, let blocker = monitored.operations.blocker(of: report)
    {
      let isCircle = blocker == id || chain.contains(blocker)
      chain.append(blocker)
      if isCircle { break }
      last = blocker
    }
    return chain
  }

  // MARK: The tree

  /// Returns the dependencies of an operation, or its dependents, as the lines of a tree; empty if the
  /// operation is not known.
  package func tree(
    of id: OperationReport.ID, _ direction: GraphDirection, at now: MonitorTime, columns: Int
  ) -> [String] {
    guard monitored.operations.contains(id) else { return [] }
    let tree = tree(of: id, direction, at: now)
    var canvas = Canvas(
      size: Size(columns: columns, rows: tree.rows.count + 1),
      capabilities: Capabilities(isUnicode: isUnicode))
    let view = TreeRowView(
      monitored: monitored, now: now, columns: 0..<columns, form: .report)
    view.drawHeadings(
      TreeTitle(tree: tree, rootCount: nil).spans(glyphs), row: 0, on: &canvas)
    for (index, row) in tree.rows.enumerated() { view.draw(row, row: index + 1, on: &canvas) }
    return (0...tree.rows.count).map { canvas.grid.row($0).plainText }
  }

  /// Returns facts about the tree of an operation: the critical path that begins at the operation, the
  /// probable time of that path, and whether the tree is too large to be complete.
  package func scan(
    of id: OperationReport.ID, _ direction: GraphDirection, at now: MonitorTime
  ) -> (criticalPath: [OperationReport.ID], remainingTime: Duration?, isCut: Bool) {
    let scan = tree(of: id, direction, at: now).scan
    return (scan.criticalPath, scan.remainingTime, scan.isCut)
  }

  private func tree(
    of id: OperationReport.ID, _ direction: GraphDirection, at now: MonitorTime
  ) -> DependencyTree {
    DependencyTree(
      root: id, direction: direction, graph: OperationGraph(monitored.operations),
      estimates: RunTimeEstimates(
        monitored.kindTimes, deadlocked: monitored.deadlocked, at: now),
      rowLimit: TreeState.rowLimit, showsAttempts: true)
  }

  /// The maximum number of operations in the lines of a tree.
  package static let treeLimit = TreeState.rowLimit
}

extension OperationStore {
  /// Returns the unfinished dependency that will probably finish last. A dependency that waits or is held in
  /// a suspended queue is chosen before a ready dependency, and a ready dependency before one that executes.
  func blocker(of report: OperationReport) -> OperationReport.ID? {
    let unmet = report.dependencies.compactMap { self[$0] }.filter { !$0.state.isOver }
    return unmet.max { SortKey($0) < SortKey($1) }?.id
  }
}

extension ArraySlice<Cell> {
  /// The text of the cells, without trailing spaces.
  var plainText: String {
    var text = String.UnicodeScalarView()
    for cell in self where !cell.isContinuation {
      text.append(cell.scalar)
      if let mark = cell.mark { text.append(mark) }
    }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
