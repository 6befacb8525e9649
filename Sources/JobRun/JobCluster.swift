// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands

/// The cluster of a run. All jobs of the run use one client, so that one call of `squeue` asks for all of them.
struct JobCluster: Sendable {
  let place: RunCluster
  let client: SlurmCluster
  let directory: RunDirectory

  /// Creates the client. No command of Slurm is called before a job starts.
  init(_ place: RunCluster, of directory: RunDirectory) {
    self.place = place
    self.directory = directory
    client = place.client(for: directory)
  }

  /// Creates the operation of an attempt.
  ///
  /// - Parameters:
  ///   - command: The command.
  ///   - request: What the job requests from the cluster.
  ///   - files: The name of the attempt's files.
  ///   - timeout: The time limit of the command, without the time in which the job is pending; `nil` for no limit.
  ///   - adopted: The last submission that an earlier runner has recorded; `nil` for a new attempt.
  ///   - willSubmit: A closure that is called before each submission. If it throws, nothing is submitted.
  ///   - didLearn: A closure that is called when the id of a submission is known, and when its time is known.
  /// - Returns: The operation.
  func operation(
    _ command: Command, _ request: JobPlan.SlurmRequest = .init(), files: String,
    timeout: Duration? = nil, adopting adopted: SlurmSubmission? = nil,
    willSubmit: @escaping @Sendable (SlurmSubmission) async throws -> Void,
    didLearn: @escaping @Sendable (SlurmSubmission) -> Void
  ) -> SlurmOperation {
    SlurmOperation(
      command, on: client, SlurmResources(request), files: place.files(named: files, of: directory),
      copy: directory.files(named: files).log, timeout: timeout, adopting: adopted,
      willSubmit: willSubmit, didLearn: didLearn)
  }
}

extension SlurmResources {
  /// Creates the resources that a job requests.
  init(_ request: JobPlan.SlurmRequest) {
    self.init(
      partition: request.partition, cpus: request.cpus, memory: request.memory, time: request.time,
      // Zero replaces a number of the defaults of the file.
      gpus: request.gpus == 0 ? nil : request.gpus, options: request.options)
  }
}
