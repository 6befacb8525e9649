// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The error that a workload cannot run or could not write its files.
public struct WorkloadError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kinds of failures.
  public enum Code: Equatable, Sendable {
    /// The speed is not a finite number above 0.
    case invalidSpeed(Double)
    /// The directory does not exist and cannot be created, or the path is not a directory. The reason is a
    /// text of the system.
    case cannotCreateDirectory(path: String, reason: String)
    /// The directory exists, but no file can be created in it. The reason is a text of the system.
    case cannotWrite(path: String, reason: String)
    /// Files could not be written while the workload ran. The path is that of the first of these files, and
    /// the reason is the system's text about it.
    case filesNotWritten(count: Int, path: String, reason: String)
  }

  /// The kind of the failure.
  public let code: Code

  /// The failure in one sentence for the user, without a full stop.
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
        : "could not write \(count) files; the first one is \(path): \(reason)"
    }
  }
}
