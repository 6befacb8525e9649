// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top tree`: prints the dependencies or the dependents of an operation.
struct TreeInquiry: Inquiry {
  let id: OperationReport.ID
  let direction: GraphDirection
  /// The maximum width of the lines.
  let columns: Int
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?

  init(
    _ id: OperationReport.ID, _ direction: GraphDirection, columns: Int, _ form: InquiryForm
  ) {
    self.id = id
    self.direction = direction
    self.columns = columns
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  var interest: Interest {
    var interest = ProcessKnowledge.interest(in: [id])
    interest.graphs = [
      Interest.Graph(root: id, direction: direction, limit: PlainText.treeLimit)
    ]
    return interest
  }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    nextLook = knowledge.nextLook(at: now)
    guard knowledge.operations[id] != nil else {
      return knowledge.isComplete(at: now) ? [.end(1, .unknown([id]))] : []
    }
    return [.print(text(at: now)), .success]
  }

  private func text(at now: MonitorTime) -> String {
    guard form.isJSON else {
      let lines = knowledge.words.tree(
        of: id, direction, at: knowledge.time(at: now), columns: columns)
      return lines.map { "\($0)\n" }.joined()
    }
    return TreeAnswer(self, at: now).map { JSONLine.text(of: $0) } ?? ""
  }

  /// The operations in the tree. Other operations that the process has reported are left out.
  var members: Set<OperationReport.ID> {
    Set(knowledge.operations.neighbourhood(of: [id], direction).lazy.map(\.id))
  }
}

/// The output of `tree --json`, which `Scripting.md` documents for users.
struct TreeAnswer: Encodable {
  let schema = "opq.tree/1"
  let time: BatchFrame.Time
  let process: BatchFrame.Process
  let root: OperationReport.ID
  let direction: GraphDirection
  let operations: [BatchFrame.Operation]
  let criticalPath: [OperationReport.ID]
  let remainingSeconds: Double?
  let isCut: Bool

  init?(_ inquiry: TreeInquiry, at now: MonitorTime) {
    let knowledge = inquiry.knowledge
    guard let frame = knowledge.frame(of: inquiry.members, at: now) else { return nil }
    time = frame.time
    process = frame.process
    root = inquiry.id
    direction = inquiry.direction
    operations = frame.operations
    let scan = knowledge.words.scan(
      of: inquiry.id, inquiry.direction, at: knowledge.time(at: now))
    criticalPath = scan.criticalPath
    remainingSeconds = scan.remainingTime.map { ($0 / .milliseconds(1)).rounded(.down) / 1_000 }
    isCut = scan.isCut
  }
}
