// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Why a workload cannot run.
public struct WorkloadError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Code: Equatable, Sendable {
    /// The speed is not a finite number above 0.
    case invalidSpeed(Double)
    /// The directory does not exist and cannot be created, or is something else. The reason is in
    /// the system's words.
    case cannotCreateDirectory(path: String, reason: String)
    /// The directory is there, but no file can be created in it. The reason is in the system's
    /// words.
    case cannotWrite(path: String, reason: String)
    /// So many files could not be written while it ran; the path and the reason, in the system's
    /// words, are those of the first.
    case filesNotWritten(count: Int, path: String, reason: String)
  }

  /// What kind of failure it was.
  public let code: Code

  /// One sentence for a person, without a full stop.
  public var description: String {
    switch code {
    case .invalidSpeed(let speed):
      "the speed must be a number above 0, not \(speed)"
    case .cannotCreateDirectory(let path, let reason):
      "cannot create the output directory \(path): \(reason)"
    case .cannotWrite(let path, let reason):
      "cannot write to the output directory \(path): \(reason)"
    case .filesNotWritten(let count, let path, let reason):
      count == 1
        ? "could not write \(path): \(reason)"
        : "could not write \(count) files, the first of them \(path): \(reason)"
    }
  }
}
