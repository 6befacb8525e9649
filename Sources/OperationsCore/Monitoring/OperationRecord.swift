// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The record of one operation in a queue that is watched. Guarded by the queue's lock.
// Unchecked because its members are guarded from outside.
package final class OperationRecord: @unchecked Sendable {
  var snapshot: RecordedOperation
  /// The operation, while its queue retains it.
  var operation: Unmanaged<Operation>?
  /// Who keeps it; `nil` until the operation is in the queue.
  var recorder: RecorderID?
  /// Is in the list of changed records.
  var isChanged = false
  /// Name and dependencies must be read (again).
  var needsDescription: Bool

  init(_ snapshot: RecordedOperation, needsDescription: Bool) {
    self.snapshot = snapshot
    self.needsDescription = needsDescription
  }
}

/// What a recorder is handed out of one queue.
struct RecordedChanges {
  /// Those that are new or have changed.
  var records: [OperationRecord] = []
  /// How many of them were made by this.
  var adoptedCount = 0
  /// Whether more have changed than were asked for.
  var hasMore = false
  /// Whether there may be operations in the queue that have none yet.
  var hasUnrecorded = false
  /// How many steps operations without one have taken since the last time.
  var lostSteps = 0
}
