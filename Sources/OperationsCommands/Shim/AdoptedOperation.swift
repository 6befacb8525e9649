// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import OperationsCore

/// An asynchronous operation that waits for the end of a shim that another process has started.
package final class AdoptedOperation: AsyncOperation<CommandResult>, @unchecked Sendable {
  private let command: Command
  private let beginning = Locked(false)

  /// Whether the work has begun. From then on, the operation ends the command if it is cancelled. An operation that is
  /// cancelled before this does nothing.
  package var hasBegun: Bool { beginning.withLock { $0 } }

  /// Creates an operation for a shim that is alive.
  ///
  /// - Parameters:
  ///   - command: The name and the grace period of the command. The other properties are not used.
  ///   - shim: The shim.
  ///   - files: The files of the shim.
  package init(_ command: Command, shim: AdoptedShim, files: ShimFiles) {
    self.command = command
    super.init()
    name = command.name
  }

  /// Waits for the end of the command. Called by the library, once.
  package override func run() async throws -> CommandResult {
    beginning.withLock { $0 = true }
    throw CommandError(.start, command.name)
  }
}
