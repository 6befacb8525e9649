// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles
package import OperationsCommands

/// What a runner does with each job of a plan, whose earlier runners may have ended at any moment.
package struct Resumption: Sendable {
  /// What a runner does with a job.
  package enum Decision: Hashable, Sendable {
    /// The job has not ended. It runs when its needs permit it, or it is skipped because of them, as in a new run. Its
    /// next attempt has this number, and ``Resumption/lastAttempts`` has the number of its last one.
    case run(firstAttempt: Int)
    /// The job keeps the outcome that it has. Nothing runs, and no record is written.
    case keep(JobOutcome)
    /// The command of this attempt still runs. Its end is awaited at once, without a start limit.
    case adopt(attempt: Int, files: ShimFiles, shim: AdoptedShim)
    /// The command of this attempt was submitted to a cluster, or may have been. The runner waits for its end at once,
    /// without a start limit. If Slurm does not know the submission and the command has not started, the command is
    /// submitted again. If the job or a need has changed since the submission, the attempt fails instead.
    case adoptSubmission(attempt: Int, files: String, submission: SlurmSubmission)
    /// The command of this attempt has ended with this status, which the journal does not have. If the status is not 0
    /// and the attempt is not the last one, another attempt follows after the pause.
    case take(attempt: Int, files: ShimFiles, status: Int32)
    /// The job must not run again until a user retries it. It has this outcome, and ``Resumption/records`` has its
    /// record. The state is `failed`, and the reason says what to do.
    case wait(JobOutcome)
  }

  /// A job that the plan no longer has, and whose command still runs.
  package struct RemovedJob: Hashable, Sendable {
    /// The id of the job.
    package let id: String
    /// The number of the attempt.
    package let attempt: Int
    /// The files of the attempt.
    package let files: ShimFiles
    /// The shim that is alive; `nil` if the command was submitted to a cluster.
    package let shim: AdoptedShim?
    /// The submission and the name of the attempt's files; `nil` for a command of this machine.
    package var submission: Submission?

    /// A submission, and the name of the files of its attempt.
    package struct Submission: Hashable, Sendable {
      let files: String
      let submission: SlurmSubmission
    }
  }

  /// The decisions, in the order of the plan's jobs.
  package let decisions: [Decision]
  /// The number of the last attempt that each job can have in this run, if it has no success before.
  package let lastAttempts: [Int]
  /// The text that the start and end records of each job have as their definition. For an adopted or taken attempt, it
  /// is the text of the record of its start.
  package let definitions: [String]
  /// The records that must be in the journal before anything starts. They can be empty.
  package let records: [JournalRecord]
  /// The jobs that the plan no longer has, and whose ends are awaited. The run does not end before them.
  package let removedJobs: [RemovedJob]
  /// The indices of the jobs that are certainly skipped now because of the states of their needs. The decision about
  /// such a job is `run`, or `keep` with a new outcome. A job that was skipped before and keeps its outcome is not in
  /// the set.
  package let skippedJobs: Set<Int>
  /// The indices of the jobs that have the state `failed`, but have not failed: they wait for a retry, or their
  /// processes may still run. No job with the condition `failure` runs because of them.
  package let unsettledJobs: Set<Int>
  /// The jobs whose processes may still run, by their indices, with the reasons as sentences. The text is unsanitised.
  /// No job runs because of their end, and a retry of them is refused.
  package let unknownJobs: [Int: String]
  /// The index of the job whose failure in an earlier runner ends a run that fails fast; `nil` if there is none, or if
  /// a user has retried jobs or changed the job file since then.
  package let firstFailure: Int?
  /// The first processes of commands whose shims were killed, by the indices of their jobs. The jobs run again or are
  /// skipped, so the commands are ended: at once, and before the next attempt.
  package let orphans: [Int: ProcessIdentity]
  /// What people must know about the decisions. Each element is one sentence without a full stop. Characters that
  /// control a terminal are escaped.
  package let sentences: [String]

  /// Whether a job runs, may run, or has to be awaited. Otherwise the outcomes of all jobs are known.
  package var hasWork: Bool {
    !removedJobs.isEmpty
      || decisions.contains { decision in
        switch decision {
        case .run, .adopt, .adoptSubmission, .take: true
        case .keep, .wait: false
        }
      }
  }
}

extension Resumption {
  /// Returns the decisions of a new run: all jobs run.
  ///
  /// - Parameter plan: The plan.
  /// - Returns: The decisions.
  package static func fresh(_ plan: JobPlan) -> Resumption {
    Resumption(
      decisions: Array(repeating: .run(firstAttempt: 1), count: plan.jobs.count),
      lastAttempts: plan.jobs.map(\.maximumAttempts),
      definitions: JobDefinition.texts(of: plan), records: [], removedJobs: [],
      skippedJobs: [], unsettledJobs: [], unknownJobs: [:], firstFailure: nil, orphans: [:],
      sentences: [])
  }

  /// Decides about all jobs of a plan. No file is read.
  ///
  /// - Parameters:
  ///   - plan: The plan, which can differ from the plan of the earlier runners.
  ///   - directory: The directory of the run.
  ///   - history: What the journal says.
  ///   - findings: What has become of the attempts without an end in the journal, by the ids of their jobs. A job
  ///     without a finding counts as one whose process may still run.
  ///   - retrying: The ids of the jobs that a user retries; `nil` if there is no retry.
  /// - Throws: ``RunFailure`` if one of these jobs must not run again. Its ``RunFailure/refusals`` are those of all
  ///   these jobs, in their order.
  package init(
    _ plan: JobPlan, directory: RunDirectory, history: RunHistory,
    findings: [String: ShimFinding] = [:], retrying: [String]? = nil
  ) throws(RunFailure) {
    let definitions = JobDefinition.texts(of: plan)
    let past = plan.jobs.map { PastJob(history.jobs[$0.id], findings[$0.id]) }
    var rules = ResumeRules(plan, in: directory, definitions: definitions, past: past)
    if let retrying {
      let choice = RetryChoice(plan, states: rules.retryStates).choice(for: retrying)
      var ids: Set<String> = []
      let refusals = retrying.filter { ids.insert($0).inserted }.compactMap { choice.refusals[$0] }
      guard refusals.isEmpty else { throw RunFailure(refusals: refusals) }
      rules = ResumeRules(
        plan, in: directory, definitions: definitions, past: past, choice: choice)
    }
    let removed = RemovedJobs(plan, history, findings, directory)
    let records = rules.records(history)
    self.init(
      decisions: rules.decisions(history),
      lastAttempts: rules.results.map(\.lastAttempt), definitions: rules.recordedDefinitions,
      records: records, removedJobs: removed.running, skippedJobs: rules.skippedJobs,
      unsettledJobs: Set(rules.results.indices.filter { rules.results[$0].waits }),
      unknownJobs: rules.unknownJobs, firstFailure: rules.firstFailure(history, records),
      orphans: rules.orphans,
      sentences: ResumeSentences(plan, rules.results, removed).sentences)
  }
}

/// The jobs of a history that a plan does not have.
struct RemovedJobs {
  /// The ids of the jobs whose commands do not run, sorted.
  var ids: [String] = []
  /// The jobs whose commands still run, sorted by their ids.
  var running: [Resumption.RemovedJob] = []
  /// The reasons for which it is not known whether the command of a job still runs.
  var unknown: [String] = []

  init(
    _ plan: JobPlan, _ history: RunHistory, _ findings: [String: ShimFinding],
    _ directory: RunDirectory
  ) {
    let known = Set(plan.jobs.lazy.map(\.id))
    let removed = history.jobs.filter { !known.contains($0.key) }
    for (id, job) in removed.sorted(by: { $0.key < $1.key }) {
      guard let start = job.openStart else {
        ids.append(id)
        continue
      }
      if let submission = start.submission {
        running.append(
          Resumption.RemovedJob(
            id: id, attempt: start.attempt, files: directory.files(named: start.files), shim: nil,
            submission: .init(files: start.files, submission: submission)))
        continue
      }
      switch findings[id] {
      case .alive(let shim):
        running.append(
          Resumption.RemovedJob(
            id: id, attempt: start.attempt, files: directory.files(named: start.files), shim: shim))
      case .orphaned(let process):
        unknown.append(
          "\(id) is no longer in the job file, and its shim was killed, but its command still runs"
            + " as process \(process.id)")
      case .unknown(let sentence): unknown.append(sentence)
      case .ended, .lost, nil: ids.append(id)
      }
    }
  }
}

extension RunHistory.JobHistory {
  /// The start of the attempt without an end in the journal; `nil` if there is no such attempt.
  var openStart: RunHistory.Start? {
    outcome == nil && !hasLastAttemptFailed ? lastStart : nil
  }
}

extension PastJob {
  /// Creates what a history says about a job.
  ///
  /// - Parameters:
  ///   - history: The history; `nil` if the journal does not have the job.
  ///   - finding: What has become of the attempt without an end; `nil` if it was not examined.
  init(_ history: RunHistory.JobHistory?, _ finding: ShimFinding?) {
    guard let history else { return }
    attemptCount = history.attemptCount
    failedAttemptCount = history.failedAttemptCount
    hasEnded = history.hasEnded
    isByRun = history.isByRun
    waits = history.waits
    definition = history.definition.flatMap { $0.isEmpty ? nil : $0 }
    if let outcome = history.outcome {
      progress = .ended(outcome)
    } else if let submission = history.openStart?.submission {
      progress = .submitted(submission)
    } else if history.openStart != nil {
      progress = .started(finding ?? .unknown("it is not known if the command still runs"))
    }
  }
}
