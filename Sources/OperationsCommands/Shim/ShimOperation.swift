// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCore

/// An asynchronous operation that runs a command by a shim, so that the command and its exit status outlive this
/// process.
///
/// The command has the input `/dev/null`. Its output and error output are the file ``ShimFiles/log``, whose last lines
/// are the log and the status of the operation. If the operation is cancelled, the processes of the command end as with
/// a ``CommandOperation``.
///
/// If the shim is killed, the operation ends the command, and fails.
package final class ShimOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  private let command: Command
  private let shell: String
  private let text: String
  private let files: ShimFiles
  private let programs: ShimPrograms
  private let willStart: @Sendable () async throws -> Void

  /// Creates an operation for a command.
  ///
  /// - Parameters:
  ///   - command: The name, the environment, the working directory and the grace period of the command. Its program,
  ///     arguments, input and output are not used.
  ///   - shell: The name or the path of the shell that runs the text.
  ///   - text: The text, which the shell gets after the argument `-c`.
  ///   - files: The files of the shim.
  ///   - programs: The programs that the shim needs.
  ///   - willStart: A closure that is called once, before the shim starts. If it throws, the shim does not start, and
  ///     the operation fails with the error.
  package init(
    _ command: Command, shell: String, text: String, files: ShimFiles, programs: ShimPrograms,
    willStart: @escaping @Sendable () async throws -> Void
  ) {
    self.command = command
    self.shell = shell
    self.text = text
    // The shim runs in the directory of the command.
    self.files = files.absolute
    self.programs = programs
    self.willStart = willStart
    super.init()
    name = command.name
    kind = command.kind
  }

  /// Runs the command. Called by the library, once.
  ///
  /// - Returns: The result, if the command has ended with the exit status 0. It contains no output.
  /// - Throws: ``CommandError``; the error of `willStart`; `CancellationError` if the operation is cancelled.
  package override func run() async throws -> CommandResult {
    let run = CommandRun(command, CommandReport(to: self))
    let shim = ShimRun(
      run: run, shell: shell, text: text, files: files, programs: programs, willStart: willStart)
    return try await run.result { await shim.perform() }
  }
}
