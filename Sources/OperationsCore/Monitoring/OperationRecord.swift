// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The record of one operation in a watched queue. Guarded by the queue's lock.
// Unchecked `Sendable` conformance, because the queue's lock guards the members of the record.
package final class OperationRecord: @unchecked Sendable {
  var snapshot: RecordedOperation
  /// The operation; `nil` if its queue does not retain it.
  var operation: Unmanaged<Operation>?
  /// The collector that owns the record; `nil` until the operation is in the queue.
  var collector: CollectorID?
  /// Whether the record is in the list of changed records.
  var isChanged = false
  /// Whether the operation's name and dependencies must be read, for the first time or again.
  var needsDescription: Bool

  init(_ snapshot: RecordedOperation, needsDescription: Bool) {
    self.snapshot = snapshot
    self.needsDescription = needsDescription
  }
}

/// The changes of one queue that one call returns to a collector.
struct TakenChanges {
  /// The records of operations that are new or have changed.
  var records: [OperationRecord] = []
  /// The number of records that this call has created.
  var adoptedCount = 0
  /// Whether more records have changed than the collector has requested.
  var hasMore = false
  /// Whether the queue may have operations without a record.
  var hasUnrecorded = false
  /// The number of state changes of operations without a record since the last reading.
  var lostSteps = 0
}
