// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import JobRun
import MonitorProtocol

extension LoadedRun {
  /// What happens with each job if the run is continued, as text with one line for each job, and the sentences about
  /// all jobs. Characters that control a terminal are escaped.
  var text: String {
    let rows = plan.order.map { index in
      (id: EscapedText.escaped(plan.jobs[index].id), words: words(about: index))
    }
    // One long name must not make all lines long.
    let width = min(40, rows.map(\.id.count).max() ?? 0)
    let lines = rows.map { row in
      row.id + String(repeating: " ", count: max(0, width - row.id.count) + 2) + row.words
    }
    let place = request.cluster.map { [EscapedText.escaped($0.sentence)] } ?? []
    let end = isOver ? ["nothing is left to do"] : sentences + place
    return (lines + (end.isEmpty ? [] : [""]) + end).map { "\($0)\n" }.joined()
  }

  private func words(about index: Int) -> String {
    let isSkipped = resumption.skippedJobs.contains(index)
    return switch resumption.decisions[index] {
    case .run where isSkipped: "is skipped"
    case .keep(let outcome) where isSkipped: "is \(Self.words(about: outcome))"
    case .run(1): "runs"
    case .run(let attempt): "runs again, as attempt \(attempt)"
    case .keep(let outcome): "stays \(Self.words(about: outcome))"
    case .adopt(let attempt, _, _): "still runs as attempt \(attempt), and is awaited"
    case .adoptSubmission(let attempt, _, _):
      "was submitted to the cluster as attempt \(attempt), and is awaited"
    case .take(let attempt, _, let status):
      status == 0
        ? "has succeeded as attempt \(attempt)"
        : "has failed as attempt \(attempt), with the exit status \(status)"
    case .wait(let outcome): "waits: \(EscapedText.escaped(outcome.reason ?? ""))"
    }
  }

  private static func words(about outcome: JobOutcome) -> String {
    outcome.state.rawValue + (outcome.reason.map { ": \(EscapedText.escaped($0))" } ?? "")
  }
}
