// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top why`: prints the state of an operation and all reasons why it does not run.
struct WhyInquiry: Inquiry {
  let id: OperationReport.ID
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?

  init(_ id: OperationReport.ID, _ form: InquiryForm) {
    self.id = id
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  /// The operation with all dependencies that the process may report, so that the answer is complete even if
  /// the operation has very many.
  var interest: Interest {
    var interest = ProcessKnowledge.interest(in: [id])
    interest.detail = id
    interest.graphs = [
      Interest.Graph(root: id, direction: .waitsFor, limit: WireLimits.mostGraphOperations)
    ]
    return interest
  }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    nextLook = knowledge.nextLook(at: now)
    guard let report = knowledge.operations[id] else {
      return knowledge.isComplete(at: now) ? [.end(1, .unknown([id]))] : []
    }
    // The update that reports the operation also has its details, unless the operation has just
    // finished.
    // The operations that explain a cancellation are in the same update too, unless the process has not
    // read them yet.
    let isReported =
      (report.state.isOver || knowledge.detail?.id == id)
      && !knowledge.words.isCancellationIncomplete(of: id)
    guard isReported || knowledge.isComplete(at: now) else { return [] }
    return [.print(text(at: now)), .success]
  }

  private func text(at now: MonitorTime) -> String {
    let time = knowledge.time(at: now)
    guard form.isJSON else {
      return knowledge.words.explanation(of: id, at: time).map { "\($0)\n" }.joined()
    }
    return WhyAnswer(id, knowledge, at: now).map { JSONLine.text(of: $0) } ?? ""
  }
}

/// The output of `why --json`, which `Scripting.md` documents for users.
struct WhyAnswer: Encodable {
  let schema = "opq.why/1"
  let time: BatchFrame.Time
  let process: BatchFrame.Process
  let operation: BatchFrame.Operation
  let sentence: String
  let reasons: [OperationDetail.Reason]
  let chain: [OperationReport.ID]
  let awaitedOperations: [OperationReport.ID]
  let awaitedQueues: [String]
  let warnings: [BatchFrame.Warning]

  init?(_ id: OperationReport.ID, _ knowledge: ProcessKnowledge, at now: MonitorTime) {
    guard let frame = knowledge.frame(of: [id], at: now), let operation = frame.operations.first
    else { return nil }
    time = frame.time
    process = frame.process
    self.operation = operation
    sentence = knowledge.words.sentence(about: id, at: knowledge.time(at: now)) ?? ""
    let detail = knowledge.detail.flatMap { $0.id == id ? $0 : nil }
    reasons = detail?.reasons ?? []
    chain = knowledge.words.blockers(of: id)
    awaitedOperations = detail?.awaitedOperations ?? []
    awaitedQueues = (detail?.awaitedQueues ?? []).map { id in
      knowledge.queues.first { $0.id == id }?.name ?? ""
    }
    warnings = frame.warnings.filter { $0.operations.contains(id) || $0.awaited.contains(id) }
  }
}
