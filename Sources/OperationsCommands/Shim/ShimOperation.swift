// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCore

/// An asynchronous operation that runs a command by a shim, so that the command and its exit status outlive this process.
package final class ShimOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  private let command: Command

  /// Creates an operation for a command.
  ///
  /// - Parameters:
  ///   - command: The name, the environment, the working directory and the grace period of the command. Its program,
  ///     arguments, input and output are not used.
  ///   - shell: The name or the path of the shell that runs the text.
  ///   - text: The text, which the shell gets after the argument `-c`.
  ///   - files: The files of the shim.
  ///   - programs: The programs that the shim needs.
  ///   - willStart: A closure that is called once, before the shim starts. If it throws, the shim does not start, and the
  ///     operation fails with the error.
  package init(
    _ command: Command, shell: String, text: String, files: ShimFiles, programs: ShimPrograms,
    willStart: @escaping @Sendable () async throws -> Void
  ) {
    self.command = command
    super.init()
    name = command.name
  }

  /// Runs the command. Called by the library, once.
  package override func run() async throws -> CommandResult {
    throw CommandError(.start, command.name)
  }
}
