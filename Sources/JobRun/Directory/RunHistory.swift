// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCommands

/// What the journal of a run says: the states of its jobs, and its last runner.
package struct RunHistory: Sendable {
  /// The start of an attempt.
  package struct Start: Hashable, Sendable {
    /// The number of the attempt; the first one is 1.
    package let attempt: Int
    /// The name of the files of the attempt.
    package let files: String
    /// The definition of the job at that time.
    package let definition: String
    /// The boot id of the machine at that time; empty if it is unknown.
    package let boot: String
    /// The wall clock, in nanoseconds since 1970.
    package let time: Int64
    /// The last submission to a cluster, with what is known about it; `nil` for a command of this machine.
    package internal(set) var submission: SlurmSubmission?
  }

  /// What the journal says about a job.
  package struct JobHistory: Hashable, Sendable {
    /// The greatest number of an attempt that was started; 0 if the job has not started.
    package private(set) var attemptCount = 0
    /// The last start; `nil` if there was none, or if the job counts as not ended since a retry. In these cases, no
    /// process of the job lives and no exit status is waited for.
    package private(set) var lastStart: Start?
    /// The definition of the job at its last start or end, also if a retry has followed; `nil` if it is unknown.
    package private(set) var definition: String?
    /// Whether the journal contains the failure of the attempt ``lastStart``, after which another attempt follows.
    package private(set) var hasLastAttemptFailed = false
    /// The number of attempts that have failed one after the other, after each of which another attempt follows.
    /// Attempts before a retry do not count, and neither do those before an attempt whose end is unknown.
    package private(set) var failedAttemptCount = 0
    /// How the job has ended; `nil` if it has not ended.
    package private(set) var outcome: JobOutcome?
    /// Whether the journal contains an end of the job, also if it counts as not ended since then. The end because of
    /// the end of the whole run does not count.
    package private(set) var hasEnded = false
    /// Whether the job has ended, and must not run again unless the user requests it.
    package private(set) var waits = false
    /// Whether the job was cancelled because the whole run was ended, or skipped because of such a job.
    package private(set) var isByRun = false

    /// Creates the history of a job without records.
    package init() {}
  }

  /// The history of each job by its id. A job without records is not in the dictionary.
  package private(set) var jobs: [String: JobHistory] = [:]
  /// The boot id of the machine at the start of the last runner; `nil` if no runner has begun.
  package private(set) var lastBoot: String?
  /// Whether all jobs have ended.
  package private(set) var isFinished = false
  /// The ids of the jobs that have failed since the last record of a retry, in the order of their ends. A job that
  /// waits has not failed.
  package private(set) var failuresSinceRetry: [String] = []

  /// Creates the history that some records describe.
  ///
  /// - Parameter records: The records in the order of the journal.
  package init(_ records: some Sequence<JournalRecord> = []) {
    for record in records { apply(record) }
  }

  /// Adds the next record.
  package mutating func apply(_ record: JournalRecord) {
    switch record.event {
    case .runner: lastBoot = record.boot ?? ""
    case .start:
      isFinished = false
      start(record)
    case .submitted:
      guard let job = record.job else { return }
      jobs[job]?.noteSubmission(record)
    case .attempt:
      guard let job = record.job else { return }
      jobs[job, default: JobHistory()].noteFailure(of: record.attempt ?? 0)
    case .end:
      guard let job = record.job, let outcome = record.outcome else { return }
      jobs[job, default: JobHistory()].end(outcome, record)
      if outcome.state == .failed, record.waits != true { failuresSinceRetry.append(job) }
    case .retry:
      isFinished = false
      failuresSinceRetry = []
      for job in record.jobs ?? [] { jobs[job]?.forgetEnd() }
    case .finish: isFinished = true
    }
  }

  private mutating func start(_ record: JournalRecord) {
    guard let job = record.job else { return }
    let start = Start(
      attempt: record.attempt ?? 1, files: record.files ?? "", definition: record.definition ?? "",
      boot: lastBoot ?? "", time: record.time, submission: record.submission)
    jobs[job, default: JobHistory()].begin(start)
  }
}

extension RunHistory.JobHistory {
  fileprivate mutating func begin(_ start: RunHistory.Start) {
    // The start of an attempt can be recorded a second time, if the attempt is adopted.
    let isNext = hasLastAttemptFailed || lastStart?.attempt == start.attempt
    let count = failedAttemptCount
    forgetEnd()
    attemptCount = max(attemptCount, start.attempt)
    definition = start.definition
    lastStart = start
    if isNext { failedAttemptCount = count }
  }

  fileprivate mutating func noteSubmission(_ record: JournalRecord) {
    guard lastStart?.submission?.comment == record.comment else { return }
    lastStart?.submission?.id = record.id
    lastStart?.submission?.submitted = record.submitted
  }

  fileprivate mutating func noteFailure(of attempt: Int) {
    guard lastStart?.attempt == attempt, !hasLastAttemptFailed else { return }
    hasLastAttemptFailed = true
    failedAttemptCount += 1
  }

  fileprivate mutating func end(_ outcome: JobOutcome, _ record: JournalRecord) {
    self.outcome = outcome
    if record.byRun != true { hasEnded = true }
    attemptCount = max(attemptCount, outcome.attemptCount)
    if let text = record.definition { definition = text }
    waits = record.waits ?? false
    isByRun = record.byRun ?? false
  }

  /// The job counts as not ended. Its attempts keep their numbers.
  fileprivate mutating func forgetEnd() {
    lastStart = nil
    hasLastAttemptFailed = false
    failedAttemptCount = 0
    outcome = nil
    waits = false
    isByRun = false
  }
}
