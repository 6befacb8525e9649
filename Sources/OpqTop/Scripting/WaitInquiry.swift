// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import MonitorProtocol
import RunAnalysis

/// `opq-top wait`: waits until all given operations have reached their goal.
struct WaitInquiry: Inquiry {
  let ids: [OperationReport.ID]
  let goal: WaitGoal
  let timeout: Duration?
  let form: InquiryForm
  var knowledge: ProcessKnowledge
  private(set) var nextLook: MonitorTime?
  /// The time at which the timeout ends; `nil` before the first check, or if there is no timeout.
  private var deadline: MonitorTime?
  /// The operations that have reached a state that `opq-top wait` waits for, as they were reported
  /// at that time. The value is `nil` for an operation that is no longer known.
  private var reached: [OperationReport.ID: BatchFrame.Operation?] = [:]

  init(
    _ ids: [OperationReport.ID], for goal: WaitGoal, timeout: Duration?, _ form: InquiryForm
  ) {
    var seen: Set<OperationReport.ID> = []
    self.ids = ids.filter { seen.insert($0).inserted }
    self.goal = goal
    self.timeout = timeout
    self.form = form
    knowledge = ProcessKnowledge(form)
  }

  let outlastsSilence = true

  var interest: Interest { ProcessKnowledge.interest(in: ids) }

  private var missing: [OperationReport.ID] { ids.filter { reached[$0] == nil } }

  mutating func look(at now: MonitorTime) -> [InquiryAction] {
    if deadline == nil { deadline = timeout.map { now + $0 } }
    nextLook = [knowledge.nextLook(at: now), deadline].compactMap { $0 }.min()
    guard knowledge.isFilled else { return expire(at: now) }
    var actions: [InquiryAction] = []
    var missed: [OperationReport.ID] = []
    var unknown: [OperationReport.ID] = []
    for id in missing {
      guard let report = knowledge.operations[id] else {
        unknown.append(id)
        continue
      }
      switch goal.progress(of: report) {
      case .underWay: break
      case .missed: missed.append(id)
      case .reached: actions += reach(id, at: now)
      }
    }
    if knowledge.isComplete(at: now) {
      for id in unknown where isOver(id) { actions += reach(id, at: now) }
      let gone = unknown.filter { reached[$0] == nil }
      if !gone.isEmpty { return actions + leave(at: now) + [.end(1, .unknown(gone))] }
    }
    if let id = missed.first, let report = knowledge.operations[id] {
      let title = knowledge.words.title(of: id)
      let words =
        report.state == .failed
        ? "has failed\(report.errorText.map { ": \(knowledge.words.printable($0))" } ?? "")"
        : knowledge.words.cancellation(of: id).map { "was \($0)" }
          ?? "is already \(report.state.rawValue)"
      return actions + leave(at: now) + [.end(1, "\(title) \(words)")]
    }
    if missing.isEmpty { return actions + leave(at: now) + [.success] }
    return actions + expire(at: now)
  }

  /// Returns whether an operation that is no longer known has ended, if that is enough to reach the
  /// goal.
  private func isOver(_ id: OperationReport.ID) -> Bool {
    goal.states.isSuperset(of: WaitGoal.isOver.states) && knowledge.hasPassed(id)
  }

  private mutating func reach(_ id: OperationReport.ID, at now: MonitorTime) -> [InquiryAction] {
    let frame = knowledge.frame(of: [id], at: now)
    reached[id] = .some(frame?.operations.first)
    guard !form.isJSON else { return [] }
    let sentence = knowledge.words.sentence(about: id, at: knowledge.time(at: now))
    let text = sentence ?? "finished or cancelled; its details are no longer stored"
    return [.print("\(knowledge.words.title(of: id)): \(text)\n")]
  }

  private mutating func expire(at now: MonitorTime) -> [InquiryAction] {
    let isRecorded = knowledge.recordedTime != nil && knowledge.isFilled
    guard isRecorded || deadline.map({ now >= $0 }) == true else { return [] }
    let missing = names(missing)
    let sentence =
      isRecorded
      ? "operations not in the state at this time of the recording: \(missing)"
      : "timed out; still waiting: \(missing)"
    return leave(at: now) + [.end(1, sentence)]
  }

  private func names(_ ids: [OperationReport.ID]) -> String {
    let named = ids.prefix(10).map { "\($0)" }.joined(separator: ", ")
    return ids.count > 10 ? "\(named) and \(ids.count - 10) more" : named
  }

  mutating func leave(at now: MonitorTime) -> [InquiryAction] {
    guard form.isJSON, let frame = knowledge.frame(of: [], at: now) else { return [] }
    let answer = WaitAnswer(
      time: frame.time, process: frame.process, isComplete: missing.isEmpty,
      operations: ids.compactMap { reached[$0].flatMap { $0 } }, missing: missing)
    return [.print(JSONLine.text(of: answer))]
  }
}

/// The output of `wait --json`, which `Scripting.md` documents for users.
struct WaitAnswer: Encodable {
  let schema = "opq.wait/1"
  let time: BatchFrame.Time
  let process: BatchFrame.Process
  let isComplete: Bool
  let operations: [BatchFrame.Operation]
  let missing: [OperationReport.ID]
}
