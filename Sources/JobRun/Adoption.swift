// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCommands
import OperationsCore

/// An operation that awaits the end of a command that an earlier runner has started or submitted.
enum AwaitingOperation: Sendable {
  case shim(AdoptedOperation)
  case submission(SlurmOperation)

  var operation: AttemptOperation {
    switch self {
    case .shim(let operation): operation
    case .submission(let operation): operation
    }
  }

  /// Whether the work has begun. From then on, the operation ends the command if it is cancelled.
  var hasBegun: Bool {
    switch self {
    case .shim(let operation): operation.hasBegun
    case .submission(let operation): operation.hasBegun
    }
  }
}

/// A command that an earlier runner has started or submitted to a cluster. A started command was alive when this runner
/// began.
///
/// An operation that is cancelled before its work begins does no work, so it does not end the command. In this case,
/// ``end(_:)`` ends it.
final class Adoption: Sendable {
  private let make: @Sendable (_ timeout: Duration?) -> AwaitingOperation
  private let measureAge: @Sendable () -> Duration
  private let operation = Locked<AwaitingOperation?>(nil)

  /// Creates the adoption of a command of this machine.
  ///
  /// - Parameters:
  ///   - command: The name and the grace periods of the command.
  ///   - files: The files of the shim.
  ///   - shim: The shim.
  init(_ command: Command, files: ShimFiles, shim: AdoptedShim) {
    measureAge = { shim.age }
    make = { .shim(AdoptedOperation(command, shim: shim, files: files, timeout: $0)) }
  }

  /// Creates the adoption of a submission.
  ///
  /// - Parameter makeOperation: A closure that creates the operation. It receives the time limit of the command; `nil`
  ///   for no limit.
  init(ofSubmission makeOperation: @escaping @Sendable (_ timeout: Duration?) -> SlurmOperation) {
    // This process does not know how long the job was pending, and does not know the clock of the other machine.
    measureAge = { .zero }
    make = { .submission(makeOperation($0)) }
  }

  /// Whether the work of an operation has begun. From then on, the operation ends the command if it is cancelled.
  var isAwaited: Bool { operation.withLock { $0 }?.hasBegun ?? false }

  /// The time since the start of the command; zero for a submission.
  var age: Duration { measureAge() }

  /// Creates the operation that awaits the end of the command.
  ///
  /// - Parameter timeout: The time limit of the command; `nil` for no limit. It begins with the start of the shim, or
  ///   on a cluster with the start of the command on its node.
  /// - Returns: The operation.
  func makeOperation(timeout: Duration? = nil) -> AttemptOperation {
    let awaiting = make(timeout)
    operation.withLock { $0 = awaiting }
    return awaiting.operation
  }

  /// Awaits the end of the command without a queue.
  ///
  /// - Parameter completion: A closure that is called once with the finished operation.
  func follow(_ completion: @escaping @Sendable (AttemptOperation) -> Void) {
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
  func stop() { operation.withLock { $0 }?.operation.cancel() }
}
