// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// One submission of a job to Slurm, with the values that identify the job.
///
/// Slurm can use an id a second time, for example after its controller was killed. So the id alone does not identify a
/// job. The comment, the name and the submission time together identify it.
package struct SlurmSubmission: Hashable, Sendable {
  /// The comment of the job: `opq-` and 32 hexadecimal digits. No other submission has the same comment.
  package let comment: String
  /// The name of the job in Slurm.
  package let name: String
  /// The id of the job; `nil` until the answer of `sbatch` is known.
  package var id: Int?
  /// The time of the submission by the clock of Slurm's controller, in seconds since 1970; `nil` until `squeue` has
  /// shown the job. If Slurm starts the job a second time because of the option `--requeue`, it is the time of this
  /// event.
  package var submitted: Int64?

  /// Creates the description of a submission. Nothing is checked.
  ///
  /// - Parameters:
  ///   - comment: The comment of the job.
  ///   - name: The name of the job.
  ///   - id: The id of the job; `nil` if it is not known.
  ///   - submitted: The time of the submission, in seconds since 1970; `nil` if it is not known.
  package init(comment: String, name: String, id: Int? = nil, submitted: Int64? = nil) {
    self.comment = comment
    self.name = name
    self.id = id
    self.submitted = submitted
  }

  /// Creates a submission with a comment of its own.
  ///
  /// - Parameter name: The name of the command. Control characters become spaces, and the name is cut to 64 scalars.
  init(named name: String) {
    let digits = (0..<2).map { _ in
      let text = String(UInt64.random(in: 0...UInt64.max), radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars.prefix(64) {
      let isControl = scalar.properties.generalCategory == .control
      scalars.append(isControl ? " " : scalar)
    }
    // Slurm would remove spaces at the ends.
    let text = String(scalars).split(separator: " ", omittingEmptySubsequences: true)
      .joined(separator: " ")
    self.init(comment: "opq-\(digits.joined())", name: text.isEmpty ? "opq" : text)
  }

  /// Returns whether a job that Slurm shows is the submitted one.
  func isSubmission(of record: SlurmRecord) -> Bool {
    guard record.comment == comment, record.name == name else { return false }
    guard let submitted, let time = record.submitted else { return true }
    // A requeued job has a later time.
    return time >= submitted
  }
}
