// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands
import OperationsCore

/// A command that an earlier runner has started, and that was alive when this runner began.
///
/// An operation that is cancelled before its work begins does no work, so it does not end the command. In this case,
/// ``end(_:)`` ends it.
final class Adoption: Sendable {
  /// The name and the grace periods of the command.
  let command: Command
  let files: ShimFiles
  let shim: AdoptedShim
  private let operation = Locked<AdoptedOperation?>(nil)

  init(_ command: Command, files: ShimFiles, shim: AdoptedShim) {
    self.command = command
    self.files = files
    self.shim = shim
  }

  /// Whether the work of an operation has begun. From then on, the operation ends the command if it is cancelled.
  var isAwaited: Bool { operation.withLock { $0 }?.hasBegun ?? false }

  /// Creates the operation that awaits the end of the command.
  ///
  /// - Parameter timeout: The time limit of the command, which begins with the start of the shim; `nil` for no limit.
  /// - Returns: The operation.
  func makeOperation(timeout: Duration? = nil) -> AdoptedOperation {
    let operation = AdoptedOperation(command, shim: shim, files: files, timeout: timeout)
    self.operation.withLock { $0 = operation }
    return operation
  }

  /// Awaits the end of the command without a queue.
  ///
  /// - Parameter completion: A closure that is called once with the finished operation.
  func follow(_ completion: @escaping @Sendable (AdoptedOperation) -> Void) {
    let operation = makeOperation()
    // The operation releases the closure after the call.
    operation.completionBlock = { completion(operation) }
    operation.start()
  }

  /// Ends the command, whose end no operation awaits.
  ///
  /// - Parameter completion: A closure that is called once when the command has ended, or cannot be ended.
  func end(_ completion: @escaping @Sendable () -> Void) {
    follow { _ in completion() }
    stop()
  }

  /// Ends the command, whose end an operation awaits.
  func stop() { operation.withLock { $0 }?.cancel() }
}
