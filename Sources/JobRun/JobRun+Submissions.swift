// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// The error of a lost submission that is not repeated, because its job is no longer in the job file.
private struct JobWasRemoved: Error, CustomStringConvertible {
  let description =
    "Slurm has lost the submission before its start, and the job is no longer in the job file"
}

/// The error of a lost submission that is not repeated, because its job or a need has changed since the submission.
struct JobHasChanged: Error, CustomStringConvertible {
  let description =
    "Slurm has lost the submission before its start, and the job or a need has changed since then"
}

extension JobRun {
  /// Creates the operation of an attempt that is a submission to a cluster.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt.
  ///   - index: The index of the job.
  ///   - cluster: The cluster.
  ///   - result: The value of `OPQ_RESULT`.
  /// - Returns: The operation.
  func submission(
    _ attempt: Int, of index: Int, to cluster: JobCluster, result: String
  ) -> AttemptOperation {
    let job = plan.jobs[index]
    let (files, _) = directory.files(ofJob: index + 1, id: job.id, attempt: attempt)
    return cluster.operation(
      commands.command(for: attempt, of: index, result: result), job.slurm, files: files,
      timeout: job.timeout
    ) { submission in
      try await self.recordStart(of: index, attempt: attempt, files: files, submission)
    } didLearn: { submission in
      self.record(submission, of: job.id, attempt: attempt)
    }
  }

  /// Creates the adoption of an attempt that an earlier runner has submitted.
  ///
  /// - Parameters:
  ///   - submission: The last recorded submission.
  ///   - index: The index of the job.
  ///   - attempt: The number of the attempt.
  ///   - files: The name of the attempt's files.
  ///   - cluster: The cluster.
  /// - Returns: The adoption.
  func adoption(
    of submission: SlurmSubmission, _ index: Int, attempt: Int, files: String,
    on cluster: JobCluster
  ) -> Adoption {
    Adoption { timeout in
      let job = self.plan.jobs[index]
      // The command is used only if it is submitted again.
      let command = self.commands.command(
        for: attempt, of: index, result: self.resultText(of: job))
      return cluster.operation(
        command, job.slurm, files: files, timeout: timeout, adopting: submission
      ) { submission in
        try await self.recordResubmission(of: index, attempt: attempt, files: files, submission)
      } didLearn: { submission in
        self.record(submission, of: job.id, attempt: attempt)
      }
    }
  }

  /// Records that an attempt of an earlier runner is submitted again, and waits until the record is on the disk.
  ///
  /// - Parameters:
  ///   - index: The index of the job.
  ///   - attempt: The number of the attempt.
  ///   - files: The name of the attempt's files.
  ///   - submission: The new submission.
  /// - Throws: ``JobHasChanged`` if the job or a need has changed since the first submission: the command would start
  ///   before the needs that run again have ended. The end of the job then has the definition from before the change,
  ///   so the next resume runs the job again. `RunFailure` if the journal cannot be written.
  func recordResubmission(
    of index: Int, attempt: Int, files: String, _ submission: SlurmSubmission
  ) async throws {
    guard resumption.definitions[index] == definition(of: index) else { throw JobHasChanged() }
    try await recordStart(of: index, attempt: attempt, files: files, submission)
  }

  /// Creates the adoption of the command of a job that the plan no longer has; `nil` if the run has no cluster.
  func adoption(ofRemoved job: Resumption.RemovedJob) -> Adoption? {
    let command = commands.adoptedCommand(named: job.id, grace: nil)
    if let shim = job.shim { return Adoption(command, files: job.files, shim: shim) }
    guard let cluster = commands.cluster, let past = job.submission else { return nil }
    return Adoption { _ in
      cluster.operation(command, files: past.files, adopting: past.submission) { _ in
        throw JobWasRemoved()
      } didLearn: { submission in
        self.record(submission, of: job.id, attempt: job.attempt)
      }
    }
  }

  /// Records the id or the time of a submission. No code waits until the record is on the disk: if it is missing, the
  /// next runner finds the submission by its comment.
  private func record(_ submission: SlurmSubmission, of id: String, attempt: Int) {
    let record = stamped(.submitted(id, attempt: attempt, submission: submission))
    state.withLock { $0.records.entries.append(JournalLine.Entry(record: record)) }
    handOver()
  }
}
