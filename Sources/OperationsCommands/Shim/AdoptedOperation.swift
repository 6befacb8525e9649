// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCore

/// An asynchronous operation that waits for the end of a command whose shim another process has started.
///
/// It is the same as a ``ShimOperation`` from the start of the shim on: the lines of the log are reported, and if the
/// operation is cancelled, the processes of the command end. It does not wait for file descriptors.
package final class AdoptedOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  private let command: Command
  let shim: AdoptedShim
  private let files: ShimFiles
  private let timeout: Duration?
  private let begun = Locked(false)

  /// Whether the work has begun. From then on, the operation ends the command if it is cancelled. An operation that is
  /// cancelled before it starts does no work, and the command continues.
  package var hasBegun: Bool { begun.withLock { $0 } }

  /// Creates an operation for a shim that is alive.
  ///
  /// - Parameters:
  ///   - command: The name and the grace period of the command. The other properties are not used.
  ///   - shim: The shim.
  ///   - files: The files of the shim.
  ///   - timeout: The time limit of the command, which begins with the start of the shim; `nil` for no limit. If the
  ///     command exceeds it, the operation ends the processes of the command, and fails with an
  ///     `OperationTimeoutError`. If the limit has passed before the work begins, this happens at its beginning.
  package init(
    _ command: Command, shim: AdoptedShim, files: ShimFiles, timeout: Duration? = nil
  ) {
    self.command = command
    self.shim = shim
    self.files = files
    self.timeout = timeout
    super.init()
    name = command.name
    kind = command.kind
  }

  /// Waits for the end of the command. Called by the library, once.
  ///
  /// - Returns: The result, if the command has ended with the exit status 0. It contains no output, and its duration
  ///   begins with the start of the shim.
  /// - Throws: ``CommandError``; `OperationTimeoutError`; `CancellationError` if the operation is cancelled.
  package override func run() async throws -> CommandResult {
    begun.withLock { $0 = true }
    let run = CommandRun(command, CommandReport(to: self))
    let adopted = AdoptedRun(run: run, shim: shim, files: files, timeout: timeout)
    return try await run.result(waitingForPlace: false) { await adopted.perform() }
  }
}
