// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// What cancelled an operation.
///
/// The cause is stored if a collector records when the operation is cancelled. Otherwise, it is
/// known only if the cancellation has a reason.
package enum CancellationCause: Sendable, Equatable {
  /// Code called `cancel()` or `cancel(with:)`. The reason is the operation's error.
  case code
  /// This dependency, whose success the operation required, failed or was cancelled. If it was
  /// cancelled, its own cause leads to the origin.
  case dependency(OperationID)
  /// The operation that contains this one was cancelled: its group, its retry or its timeout.
  case container(OperationID)
  /// The time limit of this `TimeoutOperation` has passed.
  case timeout(OperationID)
  /// The time limit of an unknown `TimeoutOperation` has passed.
  case timeLimit
  /// All operations of this queue were cancelled at once.
  case queue(QueueID)
  /// A viewer sent the request: the process and the user.
  case viewer(processID: Int32, userID: UInt32)

  /// Creates the cause that follows from the reason of a cancellation.
  init(reason: any Error) {
    switch reason {
    case let error as OperationDependencyError: self = .dependency(error.dependency.id)
    case is OperationTimeoutError: self = .timeLimit
    default: self = .code
    }
  }
}

/// The cause of a cancellation that the calling thread requests for one operation. `cancel()` is
/// overridable and has no parameter, so it finds the cause in this scope.
struct CancellationScope {
  private let target: Unmanaged<Operation>
  private let cause: CancellationCause

  /// Calls `body`, which cancels `target`. If a collector records, the cause of the cancellation is
  /// stored. Calls that cancel other operations inside `body` have their own cause.
  @inline(__always)
  static func cancel(
    _ target: Operation, because cause: @autoclosure () -> CancellationCause,
    _ body: () -> Void
  ) {
    if MonitorLevel.isOn { cancelInScope(target, cause(), body) } else { body() }
  }

  @inline(never)
  private static func cancelInScope(
    _ target: Operation, _ cause: CancellationCause, _ body: () -> Void
  ) {
    var scope = CancellationScope(target: .passUnretained(target), cause: cause)
    let outer = csystem_current_cancellation()
    withUnsafeMutablePointer(to: &scope) {
      csystem_set_current_cancellation($0)
      body()
      csystem_set_current_cancellation(outer)
    }
  }

  /// Returns the cause of a cancellation of this operation that the calling thread makes now.
  static func cause(for operation: Operation) -> CancellationCause {
    guard
      let scope = csystem_current_cancellation()?.assumingMemoryBound(to: CancellationScope.self),
      scope.pointee.target.toOpaque() == Unmanaged.passUnretained(operation).toOpaque()
    else { return .code }
    return scope.pointee.cause
  }
}

extension OperationQueue {
  /// Cancels operations of this queue, because all of its operations are cancelled.
  final func cancel(_ operations: [Operation]) {
    guard MonitorLevel.isOn else {
      for operation in operations { operation.cancel() }
      return
    }
    let group = (self as? GroupQueue)?.group
    let cause = group.map { CancellationCause.container($0.id) } ?? .queue(core.id)
    for operation in operations {
      CancellationScope.cancel(operation, because: cause) { operation.cancel() }
    }
  }
}

extension Operation {
  /// Cancels the operation for a viewer.
  package final func cancel(forProcess processID: Int32, ofUser userID: UInt32) {
    CancellationScope.cancel(self, because: .viewer(processID: processID, userID: userID)) {
      cancel()
    }
  }

  /// What cancelled the operation; `nil` if the operation was not cancelled or the cause is unknown.
  package final var cancellationCause: CancellationCause? {
    status.load(ordering: .acquiring).isCancelled ? cancellation.cause : nil
  }

  /// What cancelled the operation, and the reason that code has given: the error of a call of
  /// `cancel(with:)` or `cancelAllOperations(with:)`. The reason is `nil` if a collector recorded the
  /// cancellation before a later call gave the reason.
  ///
  /// - Precondition: The operation was cancelled.
  final var cancellation: (cause: CancellationCause?, reason: (any Error)?) {
    withRare { rare in
      let reason = rare?.cancellationReason
      let stored = rare?.cancellationCause
      let cause = stored ?? reason.map { CancellationCause(reason: $0) }
      switch cause {
      case .code, .queue:
        let isOfLaterCall = stored != nil && rare?.causeHasReason == false
        return (cause, isOfLaterCall ? nil : reason)
      // The library has created the reason, or the reason is of a later call.
      case .dependency, .container, .timeout, .timeLimit, .viewer, nil: return (cause, nil)
      }
    }
  }

  /// Stores the cause of a cancellation, before the cancelled flag is set. If several threads
  /// cancel the operation, the first cause is stored.
  @inline(never)
  final func noteCancellationCause() {
    let status = status.load(ordering: .acquiring)
    if status.isFinished || status.isCancelled { return }
    let cause = CancellationScope.cause(for: self)
    makeRare { $0.noteCause(cause) }
  }
}
