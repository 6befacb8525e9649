// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top suspend` and `opq-top resume`: suspend or resume a queue.
struct SuspendInquiry: Inquiry {
  /// The name or the id of the queue, as on the command line.
  let queue: String
  let isSuspended: Bool
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  private var chosen: QueueReport?

  init(_ queue: String, isSuspended: Bool, _ form: InquiryForm) {
    self.queue = queue
    self.isSuspended = isSuspended
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  var interest: Interest { ProcessKnowledge.interest(in: []) }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    guard chosen == nil else { return [] }
    if let refusal = knowledge.refusal { return [refusal] }
    nextLook = knowledge.nextLook(at: now)
    // The first update contains all queues, so the queue can be found after the first update.
    guard knowledge.isFilled || knowledge.isComplete(at: now) else { return [] }
    nextLook = nil
    let candidates = knowledge.queues.filter { $0.isNamed(queue) }
    guard let only = candidates.first, candidates.count == 1 else {
      let name = knowledge.words.printable(queue)
      if candidates.isEmpty { return [.end(1, "there is no queue \"\(name)\"")] }
      let ids = candidates.prefix(10).map { "#\($0.id.rawValue)" }.joined(separator: ", ")
      return [
        .end(2, "\(candidates.count) queues are named \"\(name)\"; use an id: \(ids)")
      ]
    }
    chosen = only
    return [.send(.setSuspended(only.id, isSuspended))]
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] {
    guard let chosen, let outcome = result.outcomes.first else { return [] }
    let status = Int32(exitStatusOf: [outcome])
    guard !form.isJSON else {
      guard let frame = knowledge.frame(of: [], at: now) else { return [.end(status, nil)] }
      let answer = SuspendAnswer(
        time: frame.time, process: frame.process, isSuspended: isSuspended,
        queue: .init(id: chosen.id, name: chosen.name, outcome: outcome))
      return [.print(JSONLine.text(of: answer)), .end(status, nil)]
    }
    let name = knowledge.words.printable(chosen.name)
    let text =
      switch outcome {
      case .requested:
        "queue \(name) \(isSuspended ? "suspended" : "resumed")"
      case .alreadyFinished, .unknown, .notRetryable, .refused:
        "queue \(name) no longer exists"
      case .denied: "denied: the process is monitored read-only"
      case .lost: "queue \(name): result unknown, the connection was lost"
      }
    return [.print("\(text)\n"), .end(status, nil)]
  }
}

/// The output of `suspend --json` and `resume --json`, which `Scripting.md` documents for users.
struct SuspendAnswer: Encodable {
  struct Queue: Encodable {
    let id: QueueReport.ID
    let name: String
    let outcome: CommandResult.Outcome
  }

  let schema = "opq.suspend/1"
  let time: BatchFrame.Time
  let process: BatchFrame.Process
  let isSuspended: Bool
  let queue: Queue
}

extension QueueReport {
  /// Returns whether a word on the command line names this queue. The word may be the queue's name,
  /// or its id with or without `#`.
  func isNamed(_ word: String) -> Bool {
    name == word || word == "\(id.rawValue)" || word == "#\(id.rawValue)"
  }
}
