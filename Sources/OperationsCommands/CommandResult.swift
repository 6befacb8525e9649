// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What a command with the exit status 0 has left.
public struct CommandResult: Sendable, Hashable {
  /// The collected bytes of the standard output, and of the standard error output if it has the same destination. Empty
  /// if the output is not ``CommandOutput/collected(limit:)``.
  public let output: [UInt8]
  /// The collected bytes of the standard error output. Empty if it has no ``CommandOutput/collected(limit:)`` of its
  /// own.
  public let errorOutput: [UInt8]
  /// Whether ``output`` and ``errorOutput`` contain all bytes: no limit was exceeded, and the files of a job of Slurm
  /// could be read.
  public let isOutputComplete: Bool
  /// The time from the start of the command until its end.
  public let duration: Duration

  /// The ``output`` as text. Bytes that are not UTF-8 are replaced by U+FFFD.
  public var text: String { String(decoding: output, as: UTF8.self) }
}
