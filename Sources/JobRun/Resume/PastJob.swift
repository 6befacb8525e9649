// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands

/// What is known about a job of a plan before a runner decides about it.
struct PastJob: Hashable, Sendable {
  /// The state in which the earlier runners have left the job.
  enum Progress: Hashable, Sendable {
    /// The job has not ended, and all its attempts have.
    case pending
    /// An attempt has started, and the journal does not have its end.
    case started(ShimFinding)
    /// An attempt was submitted to a cluster, or may have been, and the journal does not have its end.
    case submitted(SlurmSubmission)
    /// The job has ended.
    case ended(JobOutcome)
  }

  /// The state of the job.
  var progress = Progress.pending
  /// The number of the last attempt that has started; 0 if the job has never started.
  var attemptCount = 0
  /// The number of failed attempts that count for the retries of the job. The last attempt counts if it has failed and
  /// another attempt follows. Attempts before a retry by a user or before a change do not count. An attempt that was
  /// lost does not count.
  var failedAttemptCount = 0
  /// The definition of the job at its last start or end, also if this no longer counts; `nil` if it is unknown.
  var definition: String?
  /// Whether the journal has an end of the job, which may no longer count. The end of the whole run is no such end.
  var hasEnded = false
  /// Whether the job was cancelled or skipped because the whole run was ended.
  var isByRun = false
  /// Whether the job must not run again until a user retries it.
  var waits = false

  /// How the job has ended; `nil` if it has not ended.
  var outcome: JobOutcome? { if case .ended(let outcome) = progress { outcome } else { nil } }

  /// Whether the job has never ended. No other job can have used an outcome of it, so a job behind it that has run did
  /// not need it at that time.
  var isNew: Bool { !hasEnded && (outcome == nil || isByRun) }

  /// The job without its outcome and without its last attempt, because it runs again.
  var reopened: PastJob {
    var job = self
    job.progress = .pending
    job.failedAttemptCount = 0
    job.isByRun = false
    job.waits = false
    return job
  }
}
