// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization

/// What is known of one operation while a collector watches; may outlive the operation.
///
/// Times are nanoseconds on the monotonic clock; `nil` where it has not happened, or nobody
/// watched.
package struct OperationSnapshot: Sendable {
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
  /// Its state.
  package var state: Operation.State = .waiting
  /// Whether it was asked to cancel before it finished.
  package var isCancelled = false
  /// Its priority.
  package var priority: Operation.QueuePriority = .normal
  /// When it was added.
  package var added: Int64?
  /// When it became ready.
  package var becameReady: Int64?
  /// When it was started.
  package var started: Int64?
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

  /// Reads name and dependencies, under the operation's lock.
  mutating func describe(_ operation: Operation) {
    name = operation.name
    let all = operation.dependencies
    dependencies = all.map(\.id)
    unmetDependencies = all.filter { !$0.status.load(ordering: .acquiring).isFinished }.map(\.id)
  }
}

/// The record of one operation in a queue that is watched. Guarded by the queue's lock.
// Unchecked because its members are guarded from outside.
package final class OperationRecord: @unchecked Sendable {
  var snapshot: OperationSnapshot
  /// The operation, while its queue retains it.
  var operation: Unmanaged<Operation>?
  /// Is in the list of changed records.
  var isChanged = false
  /// Name and dependencies must be read (again).
  var needsDescription: Bool

  init(_ snapshot: OperationSnapshot, needsDescription: Bool) {
    self.snapshot = snapshot
    self.needsDescription = needsDescription
  }
}
