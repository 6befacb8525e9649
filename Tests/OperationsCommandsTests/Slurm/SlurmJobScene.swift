// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

/// One job, with the events of a test.
struct SlurmJobScene {
  var job: SlurmJob
  var time = Duration.zero
  private(set) var submissions: [SlurmSubmission] = []

  /// Creates a job that was not submitted, or that an earlier process has submitted.
  init(adopting submission: SlurmSubmission? = nil, timeout: Duration? = nil) {
    job = SlurmJob(adopting: submission, timeout: timeout)
    if let submission { submissions.append(submission) }
  }

  /// Creates a job whose submission Slurm has accepted.
  static func submitted(id: Int = 7, timeout: Duration? = nil) -> SlurmJobScene {
    var scene = SlurmJobScene(timeout: timeout)
    _ = scene.begin()
    _ = scene.take(.submission(.accepted(id: id)))
    return scene
  }

  mutating func begin() -> [SlurmJob.Action] { note(job.begin()) }

  mutating func take(_ event: SlurmJob.Event, after duration: Duration = .zero) -> [SlurmJob.Action]
  {
    time += duration
    return note(job.take(event, at: time, now: 1_000_000))
  }

  /// Slurm shows the job in a state.
  mutating func show(
    _ state: String, id: Int = 7, reason: String = "None", nodes: String = "n1",
    submitted: Int64 = 1000
  ) -> [SlurmJob.Action] {
    take(
      .queue(.records([record(state, id: id, reason: reason, nodes: nodes, submitted: submitted)])))
  }

  /// Slurm does not show the job.
  mutating func showNothing() -> [SlurmJob.Action] { take(.queue(.records([]))) }

  mutating func read(
    sign: String? = nil, status: SlurmFileContents.Status? = nil, isRead: Bool = true,
    after duration: Duration = .zero
  ) -> [SlurmJob.Action] {
    var contents = SlurmFileContents()
    contents.isRead = isRead
    contents.sign = sign
    contents.status = status
    return take(.files(contents), after: duration)
  }

  func record(
    _ state: String, id: Int = 7, reason: String = "None", nodes: String = "n1",
    submitted: Int64 = 1000, comment: String? = nil, name: String? = nil
  ) -> SlurmRecord {
    let submission = submissions.last
    let fields = [
      "\(id)", comment ?? submission?.comment ?? "", state, reason, "\(submitted)", "N/A", nodes,
      name ?? submission?.name ?? "",
    ]
    guard let record = SlurmRecord(line: fields.joined(separator: SlurmRecord.separator)) else {
      preconditionFailure("A record of a test has a wrong format")
    }
    return record
  }

  private mutating func note(_ actions: [SlurmJob.Action]) -> [SlurmJob.Action] {
    if actions.contains(.submit) {
      let submission = SlurmSubmission(named: "make")
      submissions.append(submission)
      job.noteSubmission(submission)
    }
    return actions
  }
}

extension SlurmJob.Action {
  /// Whether the action reports a status.
  var isReport: Bool { if case .report = self { true } else { false } }
}
