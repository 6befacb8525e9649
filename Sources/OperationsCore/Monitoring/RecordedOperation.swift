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
  /// The dependencies that were not in a queue and were not started when the operation was
  /// described. If such a dependency is added to a queue later, the data of that queue shows it.
  package var dependenciesInNoQueue: [OperationID] = []
  /// The operations that the operation's own code waits for while it executes.
  package var awaitedOperations: [OperationID] = []
  /// The queues that the operation's own code waits for until they are empty.
  package var awaitedQueues: [QueueID] = []
  /// The operation's state.
  package var state: OperationState = .waiting
  /// Whether the operation was cancelled before it finished.
  package var isCancelled = false
  /// Whether only the operation's own `isReady` keeps it waiting: `isReady` was `false`, and the
  /// dependencies are finished.
  package var isHeldUpByItself = false
  /// Whether the operation waits for its exclusions.
  package var isExcluded = false
  /// The number of all barriers that were added to the queue before the operation, modulo 2^24. If
  /// this number differs from the queue's `finishedBarriers`, the operation is behind a barrier.
  package var barriersBefore: UInt32 = 0
  /// The operation's priority in its queue.
  package var priority: Operation.QueuePriority = .normal
  /// The operation's quality of service.
  package var qualityOfService: QualityOfService = .default
  /// When the operation was added.
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

  /// Creates the data of an operation. The initializer acquires the locks of other operations, and
  /// may release the last reference to one of them, so it must not be called under a queue's lock.
  init(describing operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
    describe(operation)
  }

  /// Creates data without a description. The initializer uses no other operation, so it can be
  /// called under the lock of the operation's queue.
  init(identifying operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
  }

  /// Reads the values that describe the operation, and the states of its dependencies.
  mutating func describe(_ operation: Operation) {
    name = operation.givenName
    qualityOfService = operation.givenQualityOfService
    let all = operation.listedDependencies
    dependencies = all.map(\.id)
    unmetDependencies = []
    dependenciesInNoQueue = []
    for dependency in all where !dependency.status.load(ordering: .acquiring).isFinished {
      // The flag `isAwaited` is set before the status is checked. If the dependency has not
      // finished at the check, its finish will be recorded.
      dependency.makeRare { $0 }.isAwaited.store(true, ordering: .sequentiallyConsistent)
      let status = dependency.status.load(ordering: .sequentiallyConsistent)
      if status.isFinished { continue }
      unmetDependencies.append(dependency.id)
      if status.isLeftAlone { dependenciesInNoQueue.append(dependency.id) }
    }
    awaitedOperations = []
    awaitedQueues = []
    for awaited in operation.awaitedInside {
      switch awaited {
      case .operation(let operation): awaitedOperations.append(operation.id)
      case .queue(let queue): awaitedQueues.append(queue.id)
      }
    }
  }

  /// Copies the values that ``describe(_:)`` has read from the operation.
  mutating func takeDescription(of other: RecordedOperation) {
    name = other.name
    qualityOfService = other.qualityOfService
    dependencies = other.dependencies
    unmetDependencies = other.unmetDependencies
    dependenciesInNoQueue = other.dependenciesInNoQueue
    // The operation may have finished while it was described.
    awaitedOperations = state == .finished ? [] : other.awaitedOperations
    awaitedQueues = state == .finished ? [] : other.awaitedQueues
  }
}
