// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import OperationsCommands

/// A line of the journal of a run: something that has happened.
///
/// The properties have the names of the keys. A record has only those that belong to its event.
package struct JournalRecord: Hashable, Sendable {
  /// What has happened.
  package enum Event: String, Sendable {
    /// A runner has begun.
    case runner
    /// An attempt of a job starts: the command, or its submission to a cluster.
    case start
    /// The id of a submission to a cluster is known, or its time.
    case submitted
    /// An attempt has failed, and another attempt follows.
    case attempt
    /// A job has ended.
    case end
    /// Jobs count as not ended from here on.
    case retry
    /// All jobs have ended.
    case finish
  }

  /// The version of the format that this program writes. A program refuses a journal with a higher version.
  package static let currentVersion = 1

  /// The number of the attempt; for the end of a job, the number of attempts that were started.
  package var attempt: Int?
  /// The boot id of the machine.
  package var boot: String?
  /// Whether the job was cancelled because the whole run was ended, or skipped because of such a job.
  package var byRun: Bool?
  /// The comment by which the submission to a cluster is found.
  package var comment: String?
  /// The definition of the job, from ``JobDefinition``.
  package var definition: String?
  /// The time from the start of the first attempt to the end of the job, in nanoseconds.
  package var duration: Int64?
  /// What has happened.
  package var event: Event
  /// The name of the files of the attempt, such as `1-fetch.1`.
  package var files: String?
  /// The id of the submission in Slurm.
  package var id: Int?
  /// The name of the machine.
  package var host: String?
  /// The id of the job.
  package var job: String?
  /// The ids of the jobs.
  package var jobs: [String]?
  /// The last line of the output.
  package var lastLine: String?
  /// The name of the submission in Slurm.
  package var name: String?
  /// The id of the job because of which the job was skipped or cancelled.
  package var origin: String?
  /// The process id of the runner.
  package var process: Int32?
  /// Why the attempt has failed, or why the job has not succeeded.
  package var reason: String?
  /// How the job has ended.
  package var state: JobOutcome.State?
  /// The exit status.
  package var status: Int32?
  /// The time of the submission by the clock of Slurm's controller, in seconds since 1970.
  package var submitted: Int64?
  /// The wall clock, in nanoseconds since 1970.
  package var time: Int64
  /// Whether the job did not need to run.
  package var unneeded: Bool?
  /// The version of the format.
  package var version: Int?
  /// Whether the job must not run again unless the user requests it.
  package var waits: Bool?

  /// Creates a record without optional values.
  ///
  /// - Parameters:
  ///   - event: What has happened.
  ///   - time: The wall clock, in nanoseconds since 1970; now by default.
  package init(_ event: Event, time: Int64 = csystem_wall_nanoseconds()) {
    self.event = event
    self.time = time
  }
}

extension JournalRecord {
  /// Creates the record that a runner has begun.
  ///
  /// - Parameters:
  ///   - process: The process id of the runner; by default that of this process.
  ///   - boot: The boot id; by default that of this machine.
  ///   - host: The name of the machine; by default that of this machine.
  /// - Returns: The record.
  package static func runner(
    process: Int32 = csystem_process_id(), boot: String = ThisMachine.bootID,
    host: String = ThisMachine.name
  ) -> JournalRecord {
    var record = JournalRecord(.runner)
    record.process = process
    record.boot = boot
    record.host = host
    record.version = currentVersion
    return record
  }

  /// Creates the record that an attempt of a job starts. It must be on the disk before the command starts or is
  /// submitted. If the command is submitted again, there is a further record for the same attempt.
  ///
  /// - Parameters:
  ///   - job: The id of the job.
  ///   - attempt: The number of the attempt; the first one is 1.
  ///   - files: The name of the files of the attempt, from ``RunDirectory/files(ofJob:id:attempt:)``.
  ///   - definition: The definition of the job.
  ///   - submission: The submission to a cluster; `nil` for a command of this machine.
  /// - Returns: The record.
  package static func start(
    _ job: String, attempt: Int, files: String, definition: String,
    submission: SlurmSubmission? = nil
  ) -> JournalRecord {
    var record = JournalRecord(.start)
    record.job = job
    record.attempt = attempt
    record.files = files
    record.definition = definition
    record.comment = submission?.comment
    record.name = submission?.name
    record.id = submission?.id
    record.submitted = submission?.submitted
    return record
  }

  /// Creates the record that the submission of an attempt has an id, or that its time is known.
  ///
  /// - Parameters:
  ///   - job: The id of the job.
  ///   - attempt: The number of the attempt.
  ///   - submission: The submission.
  /// - Returns: The record.
  package static func submitted(
    _ job: String, attempt: Int, submission: SlurmSubmission
  ) -> JournalRecord {
    var record = JournalRecord(.submitted)
    record.job = job
    record.attempt = attempt
    record.comment = submission.comment
    record.id = submission.id
    record.submitted = submission.submitted
    return record
  }

  /// Creates the record that an attempt has failed and another attempt follows.
  ///
  /// - Parameters:
  ///   - job: The id of the job.
  ///   - attempt: The number of the failed attempt.
  ///   - status: The exit status; `nil` if the command did not end by itself.
  ///   - reason: A reason as in ``JobOutcome/reason``.
  /// - Returns: The record.
  package static func attempt(
    _ job: String, attempt: Int, status: Int32?, reason: String?
  ) -> JournalRecord {
    var record = JournalRecord(.attempt)
    record.job = job
    record.attempt = attempt
    record.status = status
    record.reason = reason
    return record
  }

  /// Creates the record that a job has ended.
  ///
  /// - Parameters:
  ///   - job: The id of the job.
  ///   - outcome: How the job has ended.
  ///   - definition: The definition of the job.
  ///   - waits: Whether the job must not run again unless the user requests it.
  ///   - byRun: Whether the job was cancelled because the whole run was ended, or skipped because of such a job.
  /// - Returns: The record.
  package static func end(
    _ job: String, _ outcome: JobOutcome, definition: String, waits: Bool = false,
    byRun: Bool = false
  ) -> JournalRecord {
    var record = JournalRecord(.end)
    record.job = job
    record.attempt = outcome.attemptCount
    record.state = outcome.state
    record.status = outcome.exitStatus
    record.reason = outcome.reason
    record.origin = outcome.origin
    record.lastLine = outcome.lastLine
    record.duration = outcome.duration?.wholeNanoseconds
    record.definition = definition
    // A key whose value would be false is absent.
    if outcome.isUnneeded { record.unneeded = true }
    if waits { record.waits = true }
    if byRun { record.byRun = true }
    return record
  }

  /// Creates the record that jobs count as not ended from here on.
  ///
  /// - Parameter jobs: The ids of the jobs.
  /// - Returns: The record.
  package static func retry(_ jobs: [String]) -> JournalRecord {
    var record = JournalRecord(.retry)
    record.jobs = jobs
    return record
  }

  /// Returns the record that all jobs have ended.
  package static func finish() -> JournalRecord { JournalRecord(.finish) }

  /// The submission that the record of a start describes; `nil` for a command of this machine.
  package var submission: SlurmSubmission? {
    guard event == .start, let comment, let name else { return nil }
    return SlurmSubmission(comment: comment, name: name, id: id, submitted: submitted)
  }

  /// How the job has ended; `nil` if the record does not describe the end of a job.
  package var outcome: JobOutcome? {
    guard event == .end, let state else { return nil }
    return JobOutcome(
      state: state, attemptCount: attempt ?? 0, exitStatus: status, origin: origin, reason: reason,
      lastLine: lastLine, duration: duration.map { .nanoseconds($0) },
      isUnneeded: unneeded ?? false)
  }
}

extension Duration {
  /// The duration in nanoseconds, without parts of a nanosecond. A duration of more than 292 years becomes shorter.
  fileprivate var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let limit = Int64.max / 1_000_000_000 - 1
    return min(max(seconds, -limit), limit) * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
