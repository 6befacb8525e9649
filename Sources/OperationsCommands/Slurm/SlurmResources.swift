// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a job requests from a Slurm cluster. By default, a job requests nothing and gets the defaults of the cluster.
///
/// Slurm checks the values. If it refuses them, the operation fails with a ``CommandError`` that has Slurm's words.
public struct SlurmResources: Sendable, Hashable {
  /// The partition, or several partitions separated by commas; `nil`, the default, for the default of the cluster.
  public var partition: String?
  /// The number of processors of one node; `nil`, the default, for the default of the cluster, which is usually 1.
  public var cpus: Int?
  /// The memory of each node, in Slurm's notation such as `4G` or `500M`; `nil`, the default, for the default of the
  /// cluster.
  public var memory: String?
  /// The time limit of the job, which begins with the start on a node; `nil`, the default, for the limit of the
  /// partition. Slurm counts in minutes, so a part of a minute counts as a minute. A limit of zero or less counts as
  /// one minute.
  ///
  /// Slurm ends a job that exceeds the limit, and the operation fails with a ``CommandError``.
  public var time: Duration?
  /// The number of GPUs; `nil`, the default, for none.
  public var gpus: Int?
  /// Further options of `sbatch`, each as one text such as `--qos=high` or `--requeue`. Empty by default.
  ///
  /// The options `--array`, `--chdir`, `--clusters`, `--comment`, `--error`, `--help`, `--input`, `--job-name`,
  /// `--open-mode`, `--output`, `--parsable`, `--test-only`, `--version`, `--wait` and `--wrap` and their short forms are
  /// not supported. The operation itself sets some of them after these options. The others change what is submitted, or
  /// what `sbatch` prints, so the operation would not find its job.
  public var options: [String]

  /// Creates a description of resources.
  ///
  /// - Parameters:
  ///   - partition: The partition; `nil` for the default of the cluster.
  ///   - cpus: The number of processors; `nil` for the default of the cluster.
  ///   - memory: The memory in Slurm's notation; `nil` for the default of the cluster.
  ///   - time: The time limit of the job; `nil` for the limit of the partition.
  ///   - gpus: The number of GPUs; `nil` for none.
  ///   - options: Further options of `sbatch`.
  public init(
    partition: String? = nil, cpus: Int? = nil, memory: String? = nil, time: Duration? = nil,
    gpus: Int? = nil, options: [String] = []
  ) {
    self.partition = partition
    self.cpus = cpus
    self.memory = memory
    self.time = time
    self.gpus = gpus
    self.options = options
  }

  /// The options of `sbatch`.
  var arguments: [String] {
    var arguments: [String] = []
    if let partition { arguments.append("--partition=\(partition)") }
    if let cpus { arguments += ["--ntasks=1", "--cpus-per-task=\(cpus)"] }
    if let memory { arguments.append("--mem=\(memory)") }
    if let time {
      let (seconds, attoseconds) = time.components
      let whole = seconds + (attoseconds > 0 ? 1 : 0)
      arguments.append("--time=\(max(1, whole / 60 + (whole % 60 > 0 ? 1 : 0)))")
    }
    if let gpus { arguments.append("--gpus=\(gpus)") }
    return arguments + options
  }
}
