// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The data about one operation in its record. The data may outlive the operation.
///
/// Times are nanoseconds on the monotonic clock. A time is `nil` if the event has not happened, or
/// happened before the record existed.
///
/// A collector reads this description, and each event changes it. A program reads an
/// ``OperationSnapshot``.
package struct RecordedOperation: Sendable {
  /// Identifies the operation.
  package let id: OperationID
  /// The queue that contains the operation.
  package let queue: QueueID
  /// The operation's class.
  package var type: Operation.Type
  /// The operation's name.
  package var name: String?
  /// The operations that the operation depends on.
  package var dependencies: [OperationID] = []
  /// The dependencies that had not finished when the operation was described.
  package var unmetDependencies: [OperationID] = []
  /// The operation's state.
  package var state: OperationState = .waiting
  /// Whether the operation was cancelled before it finished.
  package var isCancelled = false
  /// Whether the operation has finished with an error and was not cancelled.
  package var hasFailed = false
  /// What cancelled the operation; `nil` if the operation was not cancelled or the cause is unknown.
  package var cancellationCause: CancellationCause?
  /// The kind that was set for the operation; `nil` if its kind is the name of its class.
  package var kind: String?
  /// The log of the attempts of a `RetryOperation`; `nil` for other operations. It is not copied into
  /// the record, because a retry can finish before the record is described.
  private let attemptLog: AttemptLog?
  /// The progress and the status that the operation's code has reported, the queue of a group's members, and the
  /// end of a delay; `nil` if there are none. They are not copied into the record, because reports do not wait for
  /// the queue's lock.
  package var reports: OperationReports?
  /// Whether only the operation's own `isReady` keeps it waiting: `isReady` was `false`, and the
  /// dependencies are finished.
  package var isHeldUpByItself = false
  /// Whether the operation waits for its exclusions.
  package var isExcluded = false
  /// The operation's priority in its queue.
  package var priority: Operation.QueuePriority = .normal
  /// The quality of service that was set for the operation.
  package var qualityOfService = QualityOfService.default
  /// When the operation was added to its queue.
  package var added: Int64?
  /// When the operation became ready.
  package var becameReady: Int64?
  /// When the operation was started.
  package var started: Int64?
  /// Whether `started` is the time of the reading that found the operation executing, and not the
  /// time of the start. In this case `started` becomes `nil` when the operation finishes.
  package var isStartApproximate = false
  /// When the operation was cancelled.
  package var cancelRequested: Int64?
  /// When the operation finished.
  package var finished: Int64?

  /// The attempts of a `RetryOperation` at the moment of the call, and the error of the last failed
  /// attempt while the operation executes; `nil` for other operations.
  ///
  /// The getter acquires the locks of attempts, and may release the last reference to one of them.
  /// Neither the getter nor the release of the error may happen under a lock.
  package var attempts: (recorded: RecordedAttempts, lastError: (any Error)?)? {
    attemptLog?.contents
  }

  /// Creates the data of an operation. The initializer acquires the locks of other operations, and
  /// may release the last reference to one of them, so it must not be called under a queue's lock.
  init(describing operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
    attemptLog = operation.attemptLog
    describe(operation)
  }

  /// Creates data without a description. The initializer uses no other operation, so it can be
  /// called under the lock of the operation's queue.
  init(identifying operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
    attemptLog = operation.attemptLog
  }

  /// Reads the values that describe the operation, and the states of its dependencies.
  mutating func describe(_ operation: Operation) {
    name = operation.givenName
    kind = operation.givenKind
    qualityOfService = operation.givenQualityOfService
    if let queue = operation.memberQueue {
      operation.makeRare { $0.makeReports() }.setMemberQueue(queue)
    }
    // Only an operation with this flag may have a delay, so other operations need no search for one.
    if operation.status.load(ordering: .acquiring).has(.hasFinishDuties) {
      operation.describeDelay()
    }
    reports = operation.reports
    let all = operation.listedDependencies
    dependencies = all.map(\.id)
    unmetDependencies = []
    for dependency in all where !dependency.status.load(ordering: .acquiring).isFinished {
      // The flag `isAwaited` is set before the status is checked. If the dependency has not
      // finished at the check, its finish will be recorded.
      dependency.makeRare { $0 }.isAwaited.store(true, ordering: .sequentiallyConsistent)
      let status = dependency.status.load(ordering: .sequentiallyConsistent)
      if status.isFinished { continue }
      unmetDependencies.append(dependency.id)
    }
  }

  /// Copies the values that ``describe(_:)`` has read from the operation.
  mutating func takeDescription(of other: RecordedOperation) {
    name = other.name
    kind = other.kind
    qualityOfService = other.qualityOfService
    reports = other.reports ?? reports
    dependencies = other.dependencies
    unmetDependencies = other.unmetDependencies
  }

  /// Stores the operation's new state and the time of the change.
  mutating func note(
    _ newState: OperationState, _ status: OperationStatus, wasAdded: Bool, at now: Int64
  ) {
    state = newState
    isCancelled = status.isCancelled
    isHeldUpByItself = status.isHeldUpByItself
    isExcluded = status.isExcluded
    priority = Operation.QueuePriority(index: status.priorityIndex)
    if wasAdded { added = now }
    switch newState {
    case .waiting:
      becameReady = nil
      // The queue had chosen the operation to be started, but the `isReady` of its subclass was
      // `false` just before the start.
      started = nil
    case .ready: becameReady = now
    case .executing:
      started = now
      isStartApproximate = false
    case .finished:
      finished = now
      // The start time of the operation is approximate, so its run time is unknown.
      if isStartApproximate { started = nil }
    }
  }
}
