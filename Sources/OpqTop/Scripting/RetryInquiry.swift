// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top retry`: asks the process of a run to execute jobs again, and prints the result.
struct RetryInquiry: Inquiry {
  /// The names of the jobs.
  let jobs: [String]
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  private var isSent = false

  init(_ jobs: [String], _ form: InquiryForm) {
    var seen: Set<String> = []
    self.jobs = jobs.filter { seen.insert($0).inserted }
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  var interest: Interest { ProcessKnowledge.interest(in: []) }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    guard !isSent else { return [] }
    if let refusal = knowledge.refusal { return [refusal] }
    nextLook = knowledge.nextLook(at: now)
    guard knowledge.hello != nil else { return [] }
    isSent = true
    nextLook = nil
    return [.send(.retry([], names: jobs))]
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] {
    var lines: [String] = []
    var status: Int32 = 0
    for (index, job) in jobs.enumerated() {
      let outcome = result.outcomes.indices.contains(index) ? result.outcomes[index] : .unknown
      lines.append(line(about: job, outcome, result.refusals[index]))
      if outcome != .requested { status = outcome == .denied ? 5 : max(status, 1) }
    }
    return [.print(lines.map { "\($0)\n" }.joined()), .end(status, nil)]
  }

  private func line(
    about job: String, _ outcome: CommandResult.Outcome, _ refusal: String?
  ) -> String {
    let name = knowledge.words.printable(job)
    switch outcome {
    case .requested: return "repeated: \(name)"
    case .notRetryable:
      return refusal.map { "not repeated: \(knowledge.words.printable($0))" }
        ?? "not repeated: \(name)"
    case .alreadyFinished, .unknown: return "not repeated: there is no job \"\(name)\""
    case .denied: return "denied: the process is monitored read-only"
    case .lost: return "\(name): result unknown, the connection was lost"
    }
  }
}
