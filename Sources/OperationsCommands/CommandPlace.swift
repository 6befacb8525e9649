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
  /// command runs, the status and the log of the operation are its output, as on this machine.
  ///
  /// - The command has the environment variables with which `sbatch` is called, with the changes of
  ///   ``Command/environment``. `sbatch` has the variables of this process if the cluster has no command prefix. If
  ///   ``Command/inheritsEnvironment`` is `false`, the command has only the variables of Slurm and the changes.
  /// - The command runs in ``Command/workingDirectory``. If this is `nil`, the command runs in the directory of this
  ///   process if ``SlurmCluster/sharesFiles`` is `true`, and otherwise in the directory in which a login begins.
  ///   Relative paths begin in the same directory.
  /// - `cancel()` calls `scancel`. The processes of the job receive SIGTERM, and SIGKILL after ``Command/gracePeriod``
  ///   or after the time `KillWait` of the cluster, if it is shorter. If the command has started, the operation
  ///   finishes when Slurm shows the end of the job. Otherwise it finishes when the job can no longer start.
  /// - If a job ends, Slurm ends all its processes, including those that the command leaves behind.
  /// - A job is started at most once, unless ``SlurmResources/options`` permit more starts. If its node fails, the
  ///   operation fails, and a `RetryOperation` can run it again.
  /// - If this process ends, the job continues. Its files stay in the ``SlurmCluster/directory``, and no process reads
  ///   its result.
  ///
  /// - Parameters:
  ///   - cluster: The cluster.
  ///   - resources: What the job requests from the cluster.
  /// - Returns: The place.
  public static func slurm(
    _ cluster: SlurmCluster, _ resources: SlurmResources = SlurmResources()
  ) -> CommandPlace {
    CommandPlace(kind: .slurm(cluster, resources))
  }
}
