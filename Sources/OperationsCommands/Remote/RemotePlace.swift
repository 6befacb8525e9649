// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where a ``RemoteOperation`` runs its work, and in which environment.
///
/// ```swift
/// var place = RemotePlace.process
/// place.environment["OMP_NUM_THREADS"] = "1"
/// place.gracePeriod = .seconds(2)
/// ```
///
/// A place is a value. A change has no effect on operations that were created with it earlier.
public struct RemotePlace: Sendable {
  /// The kinds of places. Each kind runs the same command in a different place.
  enum Kind: Sendable {
    /// A child of this process.
    case process
    /// A job of a Slurm cluster.
    case slurm(SlurmCluster, SlurmResources)
  }

  let kind: Kind

  /// A child process on this machine.
  ///
  /// The process has a session and a process group of its own, and no terminal. When it starts, it has the current
  /// directory and the environment variables of this process. It ends if this process ends.
  public static let process = RemotePlace(kind: .process)

  /// A job of a Slurm cluster, with these resources.
  ///
  /// The operation executes from the submission until the end of the job. Its status, and cancelling it, are as for a
  /// command with ``CommandPlace/slurm(_:_:)``. If this process ends, the job continues, and no process reads its
  /// output.
  ///
  /// The files of the work are in the ``SlurmCluster/directory``, which this process and the nodes must share under the
  /// same path. The nodes must also find the ``executable`` under the path that it has here. It must be the same build.
  ///
  /// - Parameters:
  ///   - cluster: The cluster. Its ``SlurmCluster/sharesFiles`` must be `true`.
  ///   - resources: What the job requests from the cluster.
  /// - Returns: The place.
  public static func slurm(
    _ cluster: SlurmCluster, _ resources: SlurmResources = SlurmResources()
  ) -> RemotePlace {
    var place = RemotePlace(kind: .slurm(cluster, resources))
    place.directory = cluster.directory
    return place
  }

  /// Changes of the environment variables that the other process begins with. A value sets a variable, and `nil`
  /// removes it. Empty by default.
  ///
  /// Some variables are removed unless they are set here: `OPQ_MONITOR`, `OPQ_RECORD` and `OPQ_VIEWER`, because the
  /// ``RemoteOperation`` reports for the other process. `SWIFT_BACKTRACE` is `enable=no` unless it is set here or in
  /// this process, so that the last lines of a process that crashes are its own.
  public var environment: [String: String?] = [:]

  /// The directory in which each work has a directory for its files. Only this user can use these files. They are
  /// removed when the operation finishes. If this process ends earlier, a child process removes them. They stay if both
  /// processes are killed at the same time, or if this process ends while the work is a job of Slurm.
  ///
  /// A relative path begins in the directory of this process. `nil`, the default, is the directory that the
  /// environment variable `TMPDIR` names, or `/tmp`. For a job of Slurm, it is the directory of the cluster. The files
  /// of a directory in memory, as `/tmp` is on some systems, take memory.
  public var directory: String?

  /// The executable that the other process runs. A relative path begins in the directory of this process. `nil`, the
  /// default, is the executable of this process, even if its file was replaced after this process started.
  ///
  /// It must be the same build: the executable of this process or a copy of it. Otherwise the operation fails with a
  /// ``RemoteError``. Shared libraries are not compared. To compare a copy, each process reads the whole executable
  /// once.
  public var executable: String?

  /// The time that the other process has to end after the operation was cancelled. After this time, it receives
  /// SIGKILL. The default is 10 seconds. A negative time counts as zero, and more than 100 years as 100 years.
  public var gracePeriod = Duration.seconds(10)

  private init(kind: Kind) { self.kind = kind }
}
