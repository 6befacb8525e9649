// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The standard input of a ``Command``.
@nonexhaustive
public enum CommandInput: Sendable, Hashable {
  /// The command reads nothing: its input ends at once.
  case none
  /// The command reads a file.
  ///
  /// The file is opened when the command starts. A relative path begins in the directory of this process, and not in the
  /// command's ``Command/workingDirectory``. If the file cannot be opened, the operation fails with a ``CommandError``.
  case file(String)
}
