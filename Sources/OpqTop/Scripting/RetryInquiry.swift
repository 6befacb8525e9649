// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top retry`: asks the process of a run to retry jobs, and prints the result.
struct RetryInquiry: Inquiry {
  /// The names of the jobs in parts that the process accepts in one command. The first part is requested next, or its
  /// result is awaited.
  private var parts: ArraySlice<[String]>
  /// The exit status for the results that have arrived.
  private var status: Int32 = 0
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  private var isSent = false

  /// - Parameters:
  ///   - jobs: The names of the jobs; at least one.
  ///   - form: The format of the answer.
  init(_ jobs: [String], _ form: InquiryForm) {
    var seen: Set<String> = []
    parts = NameInquiry.parts(of: jobs.filter { seen.insert($0).inserted })[...]
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
    return request()
  }

  /// Requests the next part, or ends.
  private func request() -> [InquiryAction] {
    guard let jobs = parts.first else { return [.end(status, nil)] }
    return [.send(.retry([], names: jobs))]
  }

  mutating func take(_ result: CommandResult, at now: MonitorTime) -> [InquiryAction] {
    var lines: [String] = []
    for (index, job) in (parts.popFirst() ?? []).enumerated() {
      let outcome = result.outcomes.indices.contains(index) ? result.outcomes[index] : .unknown
      lines.append(line(about: job, outcome, result.refusals[index]))
      if outcome != .requested { status = outcome == .denied ? 5 : max(status, 1) }
    }
    if result.outcomes.contains(.lost) {
      lines += parts.joined().map { "not retried: \(knowledge.words.printable($0))" }
      parts = []
    }
    return [.print(lines.map { "\($0)\n" }.joined())] + request()
  }

  private func line(
    about job: String, _ outcome: CommandResult.Outcome, _ refusal: String?
  ) -> String {
    let name = knowledge.words.printable(job)
    switch outcome {
    case .requested: return "retried: \(name)"
    case .notRetryable:
      return "not retried: \(refusal.map { knowledge.words.printable($0) } ?? name)"
    case .alreadyFinished, .unknown, .refused: return "not retried: there is no job \"\(name)\""
    case .denied: return "denied: the process is monitored read-only"
    case .lost: return "\(name): result unknown, the connection was lost"
    }
  }
}
