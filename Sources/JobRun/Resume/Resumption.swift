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
    /// The command of this attempt has ended with this status, which the journal does not have. If the status is not 0
    /// and the attempt is not the last one, another attempt follows after the pause.
    case take(attempt: Int, files: ShimFiles, status: Int32)
    /// The job must not run again until a user requests it. It has this outcome, and ``Resumption/records`` has its
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
    /// The shim that is alive.
    package let shim: AdoptedShim
  }

  /// The decisions, in the order of the plan's jobs.
  package let decisions: [Decision]
  /// The number of the last attempt that each job can have in this run, if it has no success before.
  package let lastAttempts: [Int]
  /// The text that the start and end records of each job have as their definition. For an adopted or taken attempt, it is
  /// the text of the record of its start.
  package let definitions: [String]
  /// The records that must be in the journal before anything starts. They can be empty.
  package let records: [JournalRecord]
  /// The jobs that the plan no longer has, and whose ends are awaited. The run does not end before them.
  package let removedJobs: [RemovedJob]
  /// What people must know about the decisions. Each element is one sentence without a full stop. Characters that control
  /// a terminal are escaped.
  package let sentences: [String]
}
