// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCore

/// An asynchronous operation that runs a command as a job of a Slurm cluster whose submission a program records, so
/// that another process can wait for the job.
///
/// The files of the job stay. The output and the error output of the command are the file ``SlurmFiles/log``, whose
/// last lines are the log and the status of the operation. If the cluster does not share its files with this process,
/// the file is copied while the job runs.
package final class SlurmOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  private let command: Command
  private let cluster: SlurmCluster
  private let resources: SlurmResources
  private let files: SlurmFiles
  private let copy: String?
  private let timeout: Duration?
  private let adopted: SlurmSubmission?
  private let willSubmit: @Sendable (SlurmSubmission) async throws -> Void
  private let didLearn: @Sendable (SlurmSubmission) -> Void
  private let begun = Locked(false)

  /// Whether the work has begun. After that, cancelling the operation cancels the job. If the operation is cancelled
  /// earlier, an adopted job continues.
  package var hasBegun: Bool { begun.withLock { $0 } }

  /// Creates an operation for a command.
  ///
  /// - Parameters:
  ///   - command: The command. Its input is used, and its output and error output are not.
  ///   - cluster: The cluster.
  ///   - resources: The resources of the job.
  ///   - files: The files of the job. Each attempt of a command needs other files.
  ///   - copy: The path of a file of this machine that gets a copy of the output if the cluster does not share its
  ///     files. Existing contents are the beginning of the output, and are continued. `nil`, the default, for no copy.
  ///   - timeout: The time limit of the command, which begins with its start on the node: the time in which the job is
  ///     pending does not count. If the command exceeds the limit, the operation cancels the job, and fails with an
  ///     `OperationTimeoutError` when the job has ended. `nil`, the default, for no limit.
  ///   - adopted: The last submission that an earlier process has recorded for these files. The job is found by its
  ///     comment. If it has not started and Slurm does not know it, the command is submitted again. `nil`, the default,
  ///     for a command that was not submitted.
  ///   - willSubmit: A closure that is called before each submission, with a submission without an id. If it throws,
  ///     nothing is submitted, and the operation fails with the error. There are several submissions if Slurm loses
  ///     jobs before their start. An earlier submission then does nothing, even if Slurm starts its job later.
  ///   - didLearn: A closure that is called when the id of a submission is known, and when its time is known.
  package init(
    _ command: Command, on cluster: SlurmCluster, _ resources: SlurmResources, files: SlurmFiles,
    copy: String? = nil, timeout: Duration? = nil,
    adopting adopted: SlurmSubmission? = nil,
    willSubmit: @escaping @Sendable (SlurmSubmission) async throws -> Void,
    didLearn: @escaping @Sendable (SlurmSubmission) -> Void
  ) {
    var command = command
    command.output = .file(files.log, appends: true)
    command.errorOutput = nil
    self.command = command
    self.cluster = cluster
    self.resources = resources
    self.files = files
    self.copy = copy
    self.timeout = timeout
    self.adopted = adopted
    self.willSubmit = willSubmit
    self.didLearn = didLearn
    super.init()
    name = command.name
    kind = command.kind
  }

  /// Runs the command, or waits for the job. Called by the library, once.
  ///
  /// - Returns: The result, if the command has ended with the exit status 0. It contains no output.
  /// - Throws: ``CommandError``; `OperationTimeoutError`; the error of `willSubmit`; `CancellationError` if the
  ///   operation is cancelled.
  package override func run() async throws -> CommandResult {
    begun.withLock { $0 = true }
    let run = CommandRun(command, CommandReport(to: self))
    let job = SlurmRun(
      run: run, cluster: cluster, resources: resources, files: files, keepsFiles: true,
      timeout: timeout, copy: copy, adopted: adopted, willSubmit: willSubmit, didLearn: didLearn)
    return try await run.result(waitingForPlace: false) { await job.perform() }
  }
}
