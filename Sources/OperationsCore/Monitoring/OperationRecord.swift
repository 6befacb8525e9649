// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The record of one operation in a queue that is watched. Guarded by the queue's lock.
// Unchecked because its members are guarded from outside.
package final class OperationRecord: @unchecked Sendable {
  var snapshot: RecordedOperation
  /// The operation, while its queue retains it.
  var operation: Unmanaged<Operation>?
  /// Is in the list of changed records.
  var isChanged = false
  /// Name and dependencies must be read (again).
  var needsDescription: Bool

  init(_ snapshot: RecordedOperation, needsDescription: Bool) {
    self.snapshot = snapshot
    self.needsDescription = needsDescription
  }
}
