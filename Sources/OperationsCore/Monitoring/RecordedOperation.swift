// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// What is known of one operation while a collector watches; may outlive the operation.
///
/// Times are nanoseconds on the monotonic clock; `nil` where it has not happened, or nobody
/// watched.
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
  /// Those of them that had not finished when this was described.
  package var unmetDependencies: [OperationID] = []
  /// Those of them that nobody had added to a queue or started then. What is added later is seen in
  /// its queue.
  package var dependenciesInNoQueue: [OperationID] = []
  /// The operations that it waits for in its own code, while it executes.
  package var awaitedOperations: [OperationID] = []
  /// The queues that it waits for in its own code until they are empty.
  package var awaitedQueues: [QueueID] = []
  /// Its state.
  package var state: OperationState = .waiting
  /// Whether it was asked to cancel before it finished.
  package var isCancelled = false
  /// Whether its own `isReady` alone holds it up: it has said no, and the dependencies are met.
  package var isHeldUpByItself = false
  /// Whether it waits for its turn with what it excludes others from.
  package var isExcluded = false
  /// How many barriers were added to its queue before it, ever, modulo 2^24: it is behind a barrier
  /// where that is not the queue's `finishedBarriers`.
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
  /// Whether `started` is when it was found running, which is at the first reading after its start. Once
  /// it has finished `started` is `nil` then.
  package var isStartApproximate = false
  /// When it was cancelled.
  package var cancelRequested: Int64?
  /// When it finished.
  package var finished: Int64?

  /// Describes an operation. Takes its lock for a moment, so not under a queue's.
  init(describing operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
    describe(operation)
  }

  /// Only what is read without the operation's lock, so that it can be done under a queue's.
  init(identifying operation: Operation, queue: QueueID) {
    id = operation.id
    self.queue = queue
    type = Swift.type(of: operation)
  }

  /// Reads what is guarded by the operation's lock.
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

  /// Takes over what another one was told by the operation.
  mutating func takeDescription(of other: RecordedOperation) {
    name = other.name
    qualityOfService = other.qualityOfService
    dependencies = other.dependencies
    unmetDependencies = other.unmetDependencies
    dependenciesInNoQueue = other.dependenciesInNoQueue
    // It may have finished while it was described.
    awaitedOperations = state == .finished ? [] : other.awaitedOperations
    awaitedQueues = state == .finished ? [] : other.awaitedQueues
  }
}
