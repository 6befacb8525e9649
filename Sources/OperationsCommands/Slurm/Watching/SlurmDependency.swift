// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A dependency of a job on another job, as `squeue` shows it.
package struct SlurmDependency: Hashable, Sendable {
  /// The tasks of the other job on which the job depends.
  package enum Tasks: Hashable, Sendable {
    /// The job is not an array, or the dependency is on all its tasks.
    case all
    /// The task with a number.
    case number(UInt64)
    /// The task with the number of the dependent task.
    case corresponding
  }

  /// The id of the other job, or of its array.
  package let job: UInt64
  /// The tasks of the array.
  package let tasks: Tasks
  /// Whether Slurm shows the dependency as fulfilled. Usually Slurm removes a dependency when it is fulfilled.
  package let isMet: Bool

  /// Reads the dependencies on other jobs that `squeue` shows. Other dependencies, such as `singleton`, are skipped.
  ///
  /// - Parameter text: The text, such as `afterok:5_3(unfulfilled),afterany:7(failed)?after:8+10(unfulfilled)`.
  /// - Returns: The dependencies without duplicates.
  static func all(in text: String) -> [SlurmDependency] {
    var dependencies: [SlurmDependency] = []
    for part in text.split(whereSeparator: { $0 == "," || $0 == "?" }) {
      let words = part.prefix { $0 != "(" }.split(separator: ":")
      guard let kind = words.first else { continue }
      for word in words.dropFirst() {
        let dependency = SlurmDependency(
          word, isCorresponding: kind == "aftercorr", isMet: part.hasSuffix("(fulfilled)"))
        guard let dependency else { continue }
        if !dependencies.contains(dependency) { dependencies.append(dependency) }
      }
    }
    return dependencies
  }

  private init?(_ word: Substring, isCorresponding: Bool, isMet: Bool) {
    // A plus sign and a number of minutes can follow the id.
    let parts = word.prefix { $0 != "+" }.split(separator: "_", maxSplits: 1)
    guard let first = parts.first, let job = UInt64(first) else { return nil }
    self.job = job
    self.isMet = isMet
    if let number = parts.dropFirst().first.flatMap({ UInt64($0) }) {
      tasks = .number(number)
    } else {
      tasks = isCorresponding ? .corresponding : .all
    }
  }
}
