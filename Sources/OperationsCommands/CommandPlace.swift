// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where the command of a ``CommandOperation`` runs.
///
/// A place is a value.
public struct CommandPlace: Sendable {
  /// The kinds of places.
  enum Kind: Sendable {
    /// A child of this process.
    case thisMachine
    /// A job of a Slurm cluster.
    case slurm(SlurmCluster, SlurmResources)
  }

  let kind: Kind

  /// The command is a child of this process.
  public static let thisMachine = CommandPlace(kind: .thisMachine)

  /// The command is a job of a Slurm cluster, with these resources.
  ///
  /// The operation executes from the submission until the end of the job. While the job is pending, the status of the
  /// operation is Slurm's reason and the expected start, for example “pending: Priority, expected 14:05”. While the
  /// command runs, its output is the status and the log of the operation, as on this machine.
  ///
  /// - The command has the environment variables with which `sbatch` is called, which are those of this process if the
  ///   cluster has no command prefix, and the changes of ``Command/environment``. Without
  ///   ``Command/inheritsEnvironment`` it has only the variables of Slurm and the changes.
  /// - The command runs in ``Command/workingDirectory``. `nil` is the directory of this process if the cluster shares
  ///   the files of this process, and otherwise the directory of the login. Relative paths begin in the same directory.
  /// - `cancel()` calls `scancel`, and the operation finishes when Slurm shows the end of the job. The processes of the
  ///   job receive SIGTERM, and SIGKILL after ``Command/gracePeriod`` or after the time `KillWait` of the cluster, if
  ///   it is shorter.
  /// - If a job ends, Slurm ends all processes of it, also those that the command leaves behind.
  /// - A job is started at most once. If its node fails, the operation fails, and a `RetryOperation` can run it again.
  /// - If this process ends, the job continues. Its files stay in the ``SlurmCluster/directory``, and no process reads
  ///   its result.
  ///
  /// - Parameters:
  ///   - cluster: The cluster.
  ///   - resources: What the job needs.
  /// - Returns: The place.
  public static func slurm(
    _ cluster: SlurmCluster, _ resources: SlurmResources = SlurmResources()
  ) -> CommandPlace {
    CommandPlace(kind: .slurm(cluster, resources))
  }
}
