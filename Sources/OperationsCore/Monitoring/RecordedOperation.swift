// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The data about one operation in its record. It may outlive the operation.
///
/// Times are nanoseconds on the monotonic clock; `nil` if the event has not happened, or happened
/// before there was a record.
package struct RecordedOperation: Sendable {
  /// Identifies the operation.
  package let id: OperationID
  /// The queue that it is in.
  package let queue: QueueID
  /// Its class.
  package var type: Operation.Type
  /// Its name.
  package var name: String?
  /// The operations that it depends on.
  package var dependencies: [OperationID] = []
  /// The dependencies that had not finished when this was described.
  package var unmetDependencies: [OperationID] = []
  /// The dependencies that were not in a queue and not started at that moment. If they are added
  /// later, their queue shows it.
  package var dependenciesInNoQueue: [OperationID] = []
  /// The operations that its own code waits for while it executes.
  package var awaitedOperations: [OperationID] = []
  /// The queues that its own code waits for until they are empty.
  package var awaitedQueues: [QueueID] = []
  /// Its state.
  package var state: OperationState = .waiting
  /// Whether it was asked to cancel before it finished.
  package var isCancelled = false
  /// Whether only its own `isReady` keeps it waiting: it was `false`, and the dependencies are
  /// finished.
  package var isHeldUpByItself = false
  /// Whether it waits for its exclusions.
  package var isExcluded = false
  /// The number of all barriers that were added to its queue before it, modulo 2^24. If it differs
  /// from the queue's `finishedBarriers`, the operation is behind a barrier.
  package var barriersBefore: UInt32 = 0
  /// Its priority.
  package var priority: Operation.QueuePriority = .normal
  /// Its quality of service.
  package var qualityOfService: QualityOfService = .default
  /// When it was added.
  package var added: Int64?
  /// When it became ready.
  package var becameReady: Int64?
  /// When it was started.
  package var started: Int64?
  /// Whether `started` is the time of the first reading after the start, at which it was found
  /// executing. After its finish, `started` is `nil` then.
  package var isStartApproximate = false
  /// When it was cancelled.
  package var cancelRequested: Int64?
  /// When it finished.
  package var finished: Int64?

  /// Describes an operation. Takes the operation's lock for a moment, so it must not be called
  /// under a queue's lock.
  init(describing operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
    describe(operation)
  }

  /// Reads only the values that need no lock of the operation, so it can be called under a queue's
  /// lock.
  init(identifying operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
  }

  /// Reads the values that the operation's lock guards.
  mutating func describe(_ operation: Operation) {
    name = operation.givenName
    qualityOfService = operation.givenQualityOfService
    let all = operation.listedDependencies
    dependencies = all.map(\.id)
    unmetDependencies = []
    dependenciesInNoQueue = []
    for dependency in all where !dependency.status.load(ordering: .acquiring).isFinished {
      // In this order: if it has not finished after this, its finish is recorded.
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

  /// Copies the description of the operation.
  mutating func takeDescription(of other: RecordedOperation) {
    name = other.name
    qualityOfService = other.qualityOfService
    dependencies = other.dependencies
    unmetDependencies = other.unmetDependencies
    dependenciesInNoQueue = other.dependenciesInNoQueue
    // The operation may have finished during the description.
    awaitedOperations = state == .finished ? [] : other.awaitedOperations
    awaitedQueues = state == .finished ? [] : other.awaitedQueues
  }
}
