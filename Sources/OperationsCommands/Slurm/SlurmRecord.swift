// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A job as `squeue` shows it.
struct SlurmRecord: Hashable, Sendable {
  /// The character between two fields. Slurm's fields do not contain control characters, and neither do the names and
  /// comments of this package's jobs.
  static let separator = "\u{1f}"
  /// The format of a line, for the option `-o` of `squeue`.
  static let format = ["%i", "%k", "%T", "%r", "%V", "%S", "%N", "%j"].joined(separator: separator)

  let id: Int
  let comment: String
  let state: SlurmState
  /// Why the job is pending, in Slurm's words; empty if Slurm names no reason.
  let reason: String
  /// The times of the submission, and of the real or expected start, in seconds since 1970; `nil` if Slurm knows none.
  let submitted: Int64?
  let start: Int64?
  /// The nodes, in Slurm's notation such as `n[1-2]`; empty before the start.
  let nodes: String
  let name: String

  /// Reads a line of `squeue`; `nil` if it is not a line of this format.
  init?(line: some StringProtocol) {
    let fields = line.split(
      separator: Character(Self.separator), omittingEmptySubsequences: false
    ).map { String($0) }
    guard fields.count == 8, let id = Int(fields[0]) else { return nil }
    self.id = id
    comment = fields[1]
    state = SlurmState(fields[2])
    reason = fields[3] == "None" || fields[3] == "(null)" ? "" : fields[3]
    submitted = Self.time(fields[4])
    start = Self.time(fields[5])
    nodes = fields[6] == "(null)" ? "" : fields[6]
    name = fields[7]
  }

  /// Reads a time in seconds since 1970; `nil` if there is none, or if the number is not a time.
  static func time(_ text: String) -> Int64? {
    Int64(text).flatMap { (0...1 << 40).contains($0) ? $0 : nil }
  }

  /// Reads the output of `squeue`. Other lines are skipped, for example those of arrays of jobs.
  static func all(in output: some StringProtocol) -> [SlurmRecord] {
    // The bytes are split, because Swift counts a carriage return and a line feed as one character.
    output.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      SlurmRecord(line: String(decoding: line, as: UTF8.self))
    }
  }
}

/// The state of a job in Slurm's words, such as `PENDING`.
package struct SlurmState: Hashable, Sendable, CustomStringConvertible {
  /// What a state means for an operation.
  package enum Meaning: Hashable, Sendable {
    /// The job waits for resources.
    case pending
    /// The job has resources.
    case running
    /// The job ends, but processes of it may be alive.
    case ending
    /// The job has ended with the exit status 0.
    case completed
    /// The job has ended with another exit status, or by a signal.
    case failed
    /// The job was cancelled.
    case cancelled
    /// Slurm has ended the job, for example because of a limit, or has not been able to run it.
    case aborted
  }

  /// The state in Slurm's words.
  package let description: String

  init(_ description: String) { self.description = description }

  /// Whether the state says that Slurm holds the job.
  var isHeld: Bool { ["REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"].contains(description) }

  /// What the state means. A state that this version does not know belongs to a job that has not ended.
  package var meaning: Meaning {
    switch description {
    case "PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT":
      .pending
    case "COMPLETING", "STAGE_OUT": .ending
    case "COMPLETED": .completed
    case "FAILED": .failed
    case "CANCELLED": .cancelled
    case "BOOT_FAIL", "DEADLINE", "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
      "RECONFIG_FAIL", "REVOKED", "TIMEOUT":
      .aborted
    default: .running
    }
  }
}

extension SlurmState.Meaning {
  /// Whether the job has ended, and no process of it is alive.
  package var isEnd: Bool {
    switch self {
    case .pending, .running, .ending: false
    case .completed, .failed, .cancelled, .aborted: true
    }
  }
}
