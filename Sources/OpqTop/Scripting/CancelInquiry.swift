// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top cancel`: requests the cancellation of operations, and prints the result.
struct CancelInquiry: Inquiry {
  let ids: [OperationReport.ID]
  let includesDependents: Bool
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  private var isSent = false

  init(_ ids: [OperationReport.ID], includingDependents: Bool, _ form: InquiryForm) {
    var seen: Set<OperationReport.ID> = []
    self.ids = ids.filter { seen.insert($0).inserted }
    includesDependents = includingDependents
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  var interest: Interest { ProcessKnowledge.interest(in: ids) }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    guard !isSent else { return [] }
    if let refusal = knowledge.refusal { return [refusal] }
    nextLook = knowledge.nextLook(at: now)
    let isKnown = knowledge.isFilled && ids.allSatisfy { knowledge.operations[$0] != nil }
    guard isKnown || knowledge.isComplete(at: now) else { return [] }
    isSent = true
    nextLook = nil
    return [.send(includesDependents ? .cancelWithDependents(ids) : .cancel(ids))]
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] {
    let outcomes = zip(ids, result.outcomes).map { id, outcome in
      // The operation has already finished, so it cannot be cancelled.
      let isPast = outcome == .unknown && knowledge.hasPassed(id)
      return (id: id, outcome: isPast ? .alreadyFinished : outcome)
    }
    let status = Int32(exitStatusOf: outcomes.map(\.outcome))
    guard !form.isJSON else {
      guard let frame = knowledge.frame(of: [], at: now) else { return [.end(status, nil)] }
      let answer = CancelAnswer(
        time: frame.time, process: frame.process,
        operations: outcomes.map { .init(id: $0.id, outcome: $0.outcome) },
        dependents: result.dependents)
      return [.print(JSONLine.text(of: answer)), .end(status, nil)]
    }
    var lines = outcomes.map { line(about: $0.id, $0.outcome) }
    lines += result.dependents.map { "cancel requested (dependent): \($0)" }
    return [.print(lines.map { "\($0)\n" }.joined()), .end(status, nil)]
  }

  private func line(about id: OperationReport.ID, _ outcome: CommandResult.Outcome) -> String {
    let title = knowledge.words.title(of: id)
    switch outcome {
    case .requested: return "cancel requested: \(title)"
    case .alreadyFinished:
      return knowledge.operations[id] == nil
        ? "\(title) has already finished, or is not in a queue" : "\(title) had already finished"
    case .unknown, .notRetryable, .refused: return .unknown([id])
    case .denied: return "denied: the process is monitored read-only"
    case .lost: return "\(title): result unknown, the connection was lost"
    }
  }
}

/// The output of `cancel --json`, which `Scripting.md` documents for users.
struct CancelAnswer: Encodable {
  struct Operation: Encodable {
    let id: OperationReport.ID
    let outcome: CommandResult.Outcome
  }

  let schema = "opq.cancel/1"
  let time: BatchFrame.Time
  let process: BatchFrame.Process
  let operations: [Operation]
  let dependents: [OperationReport.ID]
}

extension ProcessKnowledge {
  /// The error message if the process is read-only; `nil` if the process accepts commands, or
  /// before its greeting.
  var refusal: InquiryAction? {
    guard hello?.isReadOnly == true else { return nil }
    let reason =
      recordedTime == nil
      ? "the process is monitored read-only"
      : "a recording cannot be changed"
    return .end(5, reason)
  }
}

extension Int32 {
  /// Computes the exit status of `cancel`. It is 0 if each operation was asked to cancel or had
  /// finished, 5 if the process refused a command, and otherwise 1.
  init(exitStatusOf outcomes: [CommandResult.Outcome]) {
    self =
      outcomes.contains(.denied)
      ? 5 : outcomes.allSatisfy { $0 == .requested || $0 == .alreadyFinished } ? 0 : 1
  }
}
