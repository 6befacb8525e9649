// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A Slurm cluster that runs commands.
///
/// A cluster calls Slurm's own commands, `sbatch`, `squeue`, `scancel` and `scontrol`, on this machine or through
/// another command such as `ssh`:
///
/// ```swift
/// let cluster = SlurmCluster(directory: "/home/me/.opq", commandPrefix: ["ssh", "login"])
/// let resources = SlurmResources(partition: "short", cpus: 4, memory: "8G", time: .seconds(3600))
/// queue.addOperation(CommandOperation(Command("./align", ["7"]), on: .slurm(cluster, resources)))
/// ```
///
/// The queue decides when an operation executes. Slurm decides on which nodes the commands of executing operations run,
/// and when. Use one `SlurmCluster` for all operations of a program: one call of `squeue` asks for the jobs of all its
/// operations. It calls `squeue` only while operations wait for their jobs, and at most once in each ``pollInterval``.
/// Any thread may use a cluster.
public final class SlurmCluster: Sendable {
  /// The words before each command, for example `["ssh", "login"]`; empty for commands on this machine.
  ///
  /// The words `/bin/sh -s` follow the last word. The command must pass its standard input to this shell, and must not
  /// ask for a password. At most four commands of a cluster run at a time.
  public let commandPrefix: [String]
  /// The absolute path of a directory for files of the jobs. The nodes, and the machine on which Slurm's commands are
  /// called, must share its file system. The first job creates the directory.
  ///
  /// The files of a job are deleted when its operation finishes, unless the end of the job is not known or its output
  /// cannot be read.
  public let directory: String
  /// Whether this process can read the files of ``directory`` and the output files of commands under the same paths. If
  /// it cannot, the files are read with ``commandPrefix`` together with each call of `squeue`.
  public let sharesFiles: Bool
  /// The time between the starts of two calls of `squeue`, at least 1 second. Cancelling calls `squeue` too, once for
  /// all operations that are cancelled within a second.
  public let pollInterval: Duration

  let wrapperLimit: Duration
  let calls: SlurmCalls
  let canceller: SlurmCanceller
  let poller: SlurmPoller

  /// Creates a cluster. No command is called before an operation starts.
  ///
  /// - Parameters:
  ///   - directory: The directory for files of the jobs; see ``directory``.
  ///   - commandPrefix: The words before each command; none by default.
  ///   - sharesFiles: Whether this process can read the files under the same paths. `nil`, the default, means `true` if
  ///     there is no command prefix, and `false` if there is one.
  ///   - pollInterval: The time between the starts of two calls of `squeue`; 10 seconds by default. A shorter time than
  ///     1 second counts as 1 second, and more than 100 years count as 100 years.
  /// - Precondition: The directory is an absolute path.
  public convenience init(
    directory: String, commandPrefix: [String] = [], sharesFiles: Bool? = nil,
    pollInterval: Duration = .seconds(10)
  ) {
    self.init(
      directory: directory, commandPrefix: commandPrefix, sharesFiles: sharesFiles,
      pollInterval: pollInterval, wrapperLimit: SlurmWrapper.usualLimit)
  }

  /// Creates a cluster with a time after which the wrapper of a forgotten job counts as dead, for tests.
  init(
    directory: String, commandPrefix: [String], sharesFiles: Bool?, pollInterval: Duration,
    wrapperLimit: Duration
  ) {
    precondition(
      directory.hasPrefix("/"),
      "The directory of a SlurmCluster must be an absolute path, and “\(directory)” is not")
    self.commandPrefix = commandPrefix
    self.directory = directory
    self.sharesFiles = sharesFiles ?? commandPrefix.isEmpty
    self.pollInterval = min(max(pollInterval, .seconds(1)), .seconds(100 * 365 * 86_400))
    self.wrapperLimit = wrapperLimit
    calls = SlurmCalls(prefix: commandPrefix)
    canceller = SlurmCanceller(calls: calls)
    poller = SlurmPoller(calls: calls, canceller: canceller, interval: self.pollInterval)
  }
}
