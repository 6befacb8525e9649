// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The destination of the standard output, or of the standard error output, of a ``Command``.
///
/// In all cases except ``discarded``, the last line with a character other than a space is the status of the operation,
/// and the lines are in the log of the operation. The lines of ``collected(limit:)`` and ``lines(_:)`` are reported when
/// the command writes them. The lines of a file are reported five times a second and when the command has ended, each
/// time at most 50 lines of the last 16 KiB that the command has written.
///
/// A line ends with a line feed, which is not a part of the line. A carriage return before the line feed is removed.
/// Bytes that are not UTF-8 are replaced by U+FFFD in a line. A line of more than 64 KiB is divided into several lines.
///
/// A process that the command leaves behind may keep the output open. The operation does not wait for this process: it
/// reads what is written when the command ends, and at most 1 MiB. If such a process writes later to a destination that
/// is not a file, it receives SIGPIPE.
@nonexhaustive
public enum CommandOutput: Sendable {
  /// The first `limit` bytes are the ``CommandResult/output`` or ``CommandResult/errorOutput`` of the result. Later bytes
  /// are read and dropped, so the command continues; see ``CommandResult/isOutputComplete``. A negative limit counts as
  /// zero.
  case collected(limit: Int)
  /// The closure is called with each line.
  ///
  /// It is called in the order of the lines and never twice at the same time, by a task with `Operation.current`, on a
  /// thread of the operation's queue. The last call returns before the operation finishes. While a call runs, no further
  /// output is read, and a command that writes much waits. If output and error output have one closure each, the two
  /// can be called at the same time.
  case lines(@Sendable (_ line: String) -> Void)
  /// The command writes to a file, which is created if it does not exist.
  ///
  /// If `appends` is `true`, the file keeps its contents, and the command writes after them; otherwise the file is
  /// emptied. The file is opened when the command starts. A relative path begins in the directory of this process, and not
  /// in the command's ``Command/workingDirectory``. If the file cannot be opened, the operation fails with a
  /// ``CommandError``.
  case file(String, appends: Bool = false)
  /// The output is dropped.
  case discarded
}
