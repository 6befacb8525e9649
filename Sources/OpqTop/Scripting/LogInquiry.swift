// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top log`: prints the log lines of an operation and, if it follows the operation, new lines until
/// the operation has finished.
struct LogInquiry: Inquiry {
  let id: OperationReport.ID
  let follows: Bool
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  /// The number of the line after the last printed line; `nil` before the first lines have arrived.
  private var end: UInt64?

  init(_ id: OperationReport.ID, follows: Bool, _ form: InquiryForm) {
    self.id = id
    self.follows = follows
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  /// A process that does not answer for some time may continue to log.
  var outlastsSilence: Bool { follows }

  var interest: Interest {
    var interest = ProcessKnowledge.interest(in: [id])
    interest.logs = .operations([id])
    return interest
  }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    nextLook = knowledge.nextLook(at: now)
    let isComplete = knowledge.isComplete(at: now)
    guard knowledge.isFilled, let log = knowledge.log(of: id) else {
      guard isComplete else { return [] }
      return [.end(1, "the process sends no log lines, because it uses an older version of opq")]
    }
    let report = knowledge.operations[id]
    // An operation that finished long ago may still have lines.
    guard report != nil || !log.lines.isEmpty || isComplete else { return [] }
    let actions = printed(log)
    if report == nil, log.end == 0 { return actions + [.end(1, .unknown([id]))] }
    let isOver = report.map(\.state.isOver) ?? isComplete
    guard isOver || !follows else { return actions }
    return actions + [.end(0, log.end == 0 ? emptyWords(log) : nil)]
  }

  private func emptyWords(_ log: OperationLog) -> String {
    let title = knowledge.words.title(of: id)
    return log.mayBeDropped
      ? "\(title) has logged nothing, or the process has dropped its lines"
      : "\(title) has logged nothing"
  }

  /// Returns the action that prints the lines after the last printed line.
  private mutating func printed(_ log: OperationLog) -> [InquiryAction] {
    let start = end ?? 0
    let news = log.from(start)
    end = max(start, log.end)
    guard !news.lines.isEmpty else { return [] }
    var lines: [String] = []
    let missingCount = news.first - min(start, news.first)
    if missingCount > 0, !form.isJSON {
      lines.append("(\(missingCount) \(missingCount == 1 ? "line was" : "lines were") dropped)\n")
    }
    for (index, line) in news.lines.enumerated() {
      lines.append(text(of: line, number: news.first + UInt64(index)))
    }
    return [.print(lines.joined())]
  }

  private func text(of line: LogLine, number: UInt64) -> String {
    guard form.isJSON else { return "\(knowledge.words.text(of: line))\n" }
    let time = knowledge.hello.map { BatchFrame.Time(line.time, of: $0) }
    return JSONLine.text(
      of: LogAnswer(
        time: time, operation: id, number: number, level: line.level, text: line.text))
  }
}

/// One line of the output of `log --json`, which `Scripting.md` documents for users.
struct LogAnswer: Encodable {
  let schema = "opq.log/1"
  let time: BatchFrame.Time?
  let operation: OperationReport.ID
  let number: UInt64
  let level: LogLine.Level
  let text: String
}
