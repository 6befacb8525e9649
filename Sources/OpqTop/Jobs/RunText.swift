// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import JobRun
import MonitorProtocol

/// The lines that `opq-top run --batch` prints. They have no character that controls a terminal.
struct RunText {
  let plan: JobPlan
  /// Whether the lines may have characters beyond ASCII.
  let isUnicode: Bool

  /// Returns a line for each event.
  func lines(of events: [JobEvent]) -> String {
    var text = ""
    for event in events {
      switch event {
      case .started(let index, let attempt): text += started(plan.jobs[index], attempt) + "\n"
      case .retried(let index, let attempt, let reason):
        text += retried(plan.jobs[index], attempt, reason) + "\n"
      case .adopted(let index, let attempt): text += adopted(plan.jobs[index], attempt) + "\n"
      case .ended(let index, let outcome): text += ended(plan.jobs[index], outcome) + "\n"
      case .willRunAgain(let index):
        text += "retried   \(EscapedText.escaped(plan.jobs[index].id))\n"
      // The caller prints it as an error.
      case .journalFailed: break
      }
    }
    return Self.shown(text, isUnicode: isUnicode)
  }

  /// Returns a text in which `?` replaces each character beyond ASCII, unless they are allowed.
  static func shown(_ text: String, isUnicode: Bool) -> String {
    isUnicode ? text : String(text.map { $0.isASCII ? $0 : "?" })
  }

  /// Prints sentences on standard output, one on each line.
  static func say(_ sentences: [String], isUnicode: Bool) {
    guard !sentences.isEmpty else { return }
    let text = sentences.map { "\($0)\n" }.joined()
    StandardStream.output.write(shown(text, isUnicode: isUnicode))
  }

  /// Returns the line that says where the commands run; empty for this machine.
  static func lines(about cluster: RunCluster?) -> String {
    cluster.map { "\n\(EscapedText.escaped($0.sentence))\n" } ?? ""
  }

  /// Returns the line for the end of the run.
  ///
  /// - Parameters:
  ///   - counts: The number of jobs in each state.
  ///   - duration: The duration of the run.
  ///   - logs: The path of the directory with the output of the jobs; `nil` if there is no output.
  /// - Returns: The line.
  static func summary(_ counts: JobCounts, duration: Duration, logs: String?) -> String {
    let place = logs.map { "; output in \(EscapedText.escaped($0))" } ?? ""
    return "\(counts.text) in \(TimeText.duration(duration))\(place)\n"
  }

  private func started(_ job: JobPlan.Job, _ attempt: Int) -> String {
    let number = attempt > 1 ? ", \(words(about: attempt, of: job))" : ""
    return "started   \(EscapedText.escaped(job.id))\(number)"
  }

  private func adopted(_ job: JobPlan.Job, _ attempt: Int) -> String {
    let number = attempt > 1 ? ", \(words(about: attempt, of: job))" : ""
    return "continues \(EscapedText.escaped(job.id))\(number)"
  }

  /// Returns the number of an attempt as words. After a retry or a resume, the number can be greater than the maximum
  /// number of attempts.
  private func words(about attempt: Int, of job: JobPlan.Job) -> String {
    attempt > job.maximumAttempts
      ? "attempt \(attempt)" : "attempt \(attempt) of \(job.maximumAttempts)"
  }

  private func retried(_ job: JobPlan.Job, _ attempt: Int, _ reason: String) -> String {
    let number = words(about: attempt, of: job)
    return
      "retrying  \(EscapedText.escaped(job.id)): \(number) failed: \(EscapedText.escaped(reason))"
  }

  private func ended(_ job: JobPlan.Job, _ outcome: JobOutcome) -> String {
    let state = outcome.state.rawValue
    var text = state + String(repeating: " ", count: max(0, 9 - state.count)) + " "
    text += EscapedText.escaped(job.id)
    if let duration = outcome.duration { text += " in \(TimeText.duration(duration))" }
    if outcome.attemptCount > 1 { text += " after \(outcome.attemptCount) attempts" }
    let detail = outcome.state == .succeeded ? outcome.lastLine : outcome.reason
    return text + (detail.map { ": \(EscapedText.escaped($0))" } ?? "")
  }
}
