// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension JobPlan {
  /// What a job requests of a Slurm cluster. It has no effect if the job runs on this machine.
  package struct SlurmRequest: Hashable, Sendable {
    /// The partition, or several partitions separated by commas; `nil` for the default of the cluster.
    package var partition: String?
    /// The number of processors; `nil` for the default of the cluster.
    package var cpus: Int?
    /// The memory in Slurm's notation, such as `4G`; `nil` for the default of the cluster.
    package var memory: String?
    /// The time limit of the job on its node; `nil` for that of the partition.
    package var time: Duration?
    /// The number of GPUs; `nil` for the default of the cluster.
    package var gpus: Int?
    /// Further options of `sbatch`. Each one begins with a hyphen.
    package var options: [String] = []

    /// Creates a request without values.
    package init() {}
  }
}

extension JobPlan.SlurmRequest {
  /// The options that the runner uses itself, and those that change what is submitted.
  private static let reservedOptions = [
    "--array", "--chdir", "--comment", "--error", "--input", "--job-name", "--output", "--parsable",
    "--test-only", "--wait", "--wrap", "-D", "-J", "-W", "-a", "-e", "-i", "-o",
  ]

  /// Reads the requests of a job, or the defaults of a file. Each key replaces the default with the same key.
  init(_ fields: JobFileFields, defaults: Self) throws(JobFileMistake) {
    self = defaults
    partition = try fields.text(.partition)?.text ?? partition
    cpus = try fields.integer(.cpus) ?? cpus
    memory = try fields.text(.memory)?.text ?? memory
    time = try fields.duration(.time) ?? time
    gpus = try fields.integer(.gpus) ?? gpus
    guard fields.node(.options) != nil else { return }
    options = []
    for (text, line) in try fields.texts(.options) {
      // Slurm would read another word as the name of a script.
      guard text.utf8.first == UInt8(ascii: "-"), text.utf8.count > 1 else {
        throw JobFileMistake(
          line, "the option \(text.quoted) of \(fields.owner) does not begin with a hyphen")
      }
      let isLong = text.hasPrefix("--")
      let name = isLong ? String(text.prefix { $0 != "=" }) : String(text.prefix(2))
      guard !Self.reservedOptions.contains(name) else {
        throw JobFileMistake(
          line, "\(fields.owner) has the option \(name.quoted), which opq-top uses itself")
      }
      options.append(text)
    }
  }
}
