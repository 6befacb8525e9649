// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension JobPlan {
  /// What a job requests from a Slurm cluster. It has no effect if the job runs on this machine.
  package struct SlurmRequest: Hashable, Sendable {
    /// The partition, or several partitions separated by commas; `nil` for the default of the cluster.
    package var partition: String?
    /// The number of processors of one node; `nil` for the default of the cluster.
    package var cpus: Int?
    /// The memory in Slurm's notation, such as `4G`; `nil` for the default of the cluster.
    package var memory: String?
    /// The time limit of the job on its node; `nil` for the limit of the partition.
    package var time: Duration?
    /// The number of GPUs; `nil` and 0 for none.
    package var gpus: Int?
    /// Further options of `sbatch`. Each one begins with a hyphen.
    package var options: [String] = []

    /// Creates a request without values.
    package init() {}
  }
}

extension JobPlan.SlurmRequest {
  /// The long options that the runner uses itself, that change what is submitted, or with which `sbatch` submits
  /// nothing. None of them begins with the whole name of another option of `sbatch`.
  private static let reservedNames = [
    "--array", "--chdir", "--clusters", "--comment", "--error", "--help", "--input", "--job-name",
    "--output", "--parsable", "--test-only", "--usage", "--version", "--wait", "--wrap",
  ]
  /// The short forms of these options.
  private static let reservedLetters = "DJMVWaehio"
  /// The other short options of `sbatch` without a value.
  private static let lettersWithoutValue = "HOQsv"

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
      // Slurm would use a word without a hyphen as the name of a script.
      guard text.utf8.first == UInt8(ascii: "-"), text.utf8.count > 1 else {
        throw JobFileMistake(
          line, "the option \(text.quoted) of \(fields.owner) does not begin with a hyphen")
      }
      if let name = Self.reservedName(in: text) {
        throw JobFileMistake(
          line, "\(fields.owner) has the option \(name.quoted), which opq-top does not permit")
      }
      guard text.utf8.count == 2 || !Self.isWithoutValue(text) else {
        throw JobFileMistake(
          line,
          "the option \(text.quoted) of \(fields.owner) contains several options; "
            + "write each option as one text")
      }
      options.append(text)
    }
  }

  /// Returns the name of the option in a text if it is reserved; otherwise `nil`. The beginning of a reserved long name
  /// is reserved too, because `sbatch` accepts it.
  private static func reservedName(in text: String) -> String? {
    guard text.utf8.dropFirst().first == UInt8(ascii: "-") else {
      return letter(of: text, isIn: reservedLetters)
        ? String(decoding: text.utf8.prefix(2), as: UTF8.self) : nil
    }
    // The bytes are compared: Swift can count an equals sign and the first scalar of the value as one character.
    let name = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    return reservedNames.contains { $0.hasPrefix(name) } ? name : nil
  }

  /// Returns whether a text begins with a short option without a value. `sbatch` would read further letters as options.
  private static func isWithoutValue(_ text: String) -> Bool {
    letter(of: text, isIn: lettersWithoutValue)
  }

  private static func letter(of text: String, isIn letters: String) -> Bool {
    text.utf8.dropFirst().first.map { letters.utf8.contains($0) } ?? false
  }
}
