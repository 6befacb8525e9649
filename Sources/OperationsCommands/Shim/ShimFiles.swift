// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The files of one attempt of a command that a shim runs.
///
/// The shim is a shell in a session of its own. It starts the command, waits for its end, and writes its exit status to
/// a file. It continues when the process that has started it ends.
package struct ShimFiles: Hashable, Sendable {
  /// The path that all files begin with.
  package let base: String

  /// Creates the names of the files. No file is created.
  ///
  /// - Parameter base: The path that all files begin with. Its directory must exist when the shim starts.
  package init(base: String) { self.base = base }

  /// The file with the output of the command.
  package var log: String { "\(base).log" }
  /// The file with the exit status of the command. The file exists only after the end of the command.
  package var status: String { "\(base).status" }
  /// The file with the process group of the command.
  package var group: String { "\(base).group" }
  /// The file that is locked while the shim is alive, and that contains the identity of the shim.
  package var shim: String { "\(base).shim" }
}
