// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The record of one operation in a watched queue. Guarded by the queue's lock.
// Unchecked `Sendable` conformance, because the queue's lock guards the members of the record.
package final class OperationRecord: @unchecked Sendable {
  /// What the record leads to. One word is enough, so an operation that does not fail needs no memory
  /// for an error.
  private enum Subject {
    case nothing
    /// The operation, which its queue retains.
    case operation(Unmanaged<Operation>)
    /// An operation that has not left its queue yet, and its error: the error with which it has failed,
    /// or the reason of its cancellation.
    indirect case operationAndError(Unmanaged<Operation>, any Error)
    /// The error of an operation that has left its queue, until the collector has taken it.
    case error(any Error)
  }

  var snapshot: RecordedOperation
  private var subject = Subject.nothing
  /// The collector that owns the record; `nil` until the operation is in the queue.
  var collector: CollectorID?
  /// Whether the record is in the list of changed records.
  var isChanged = false
  /// Whether the finish was recorded before the operation left its slot.
  var hasFinishedInSlot = false
  /// Whether the collector has taken the reason of the cancellation. The reason is taken once, because
  /// it does not change.
  private var isReasonTaken = false
  /// Whether the operation's name and dependencies must be read, for the first time or again.
  var needsDescription: Bool

  init(_ snapshot: RecordedOperation, needsDescription: Bool) {
    self.snapshot = snapshot
    self.needsDescription = needsDescription
  }

  /// Whether the collector has read the finish, and may have forgotten the operation. Such a record
  /// does not change.
  var isForgettable: Bool { snapshot.state == .finished && !isChanged }

  /// The operation; `nil` if its queue does not retain it.
  var operation: Unmanaged<Operation>? {
    switch subject {
    case .operation(let operation), .operationAndError(let operation, _): operation
    case .nothing, .error: nil
    }
  }

  /// Makes the record lead to its operation, until ``noteEnd()``. The queue retains the operation.
  func lead(to operation: Operation) { subject = .operation(.passUnretained(operation)) }

  /// Stores the error with which the operation has finished; `nil` if the operation has not failed.
  func noteFailure(_ error: (any Error)?) {
    snapshot.hasFailed = error != nil
    if let error { store(error) }
  }

  /// Stores what cancelled the operation, and the reason if code has given one.
  func noteCancellation(of operation: Operation) {
    let (cause, reason) = operation.cancellation
    snapshot.cancellationCause = cause
    if let reason, !isReasonTaken { store(reason) }
  }

  private func store(_ error: any Error) {
    subject = operation.map { .operationAndError($0, error) } ?? .error(error)
  }

  /// Stores that the operation has left its queue.
  func noteEnd() {
    if case .operationAndError(_, let error) = subject {
      subject = .error(error)
    } else {
      subject = .nothing
    }
  }

  /// Removes and returns the error. The caller must release it outside the queue's lock, because that
  /// may run code of the user.
  func takeError() -> (any Error)? {
    let taken: any Error
    switch subject {
    case .operationAndError(let operation, let error):
      (subject, taken) = (.operation(operation), error)
    case .error(let error): (subject, taken) = (.nothing, error)
    case .nothing, .operation: return nil
    }
    isReasonTaken = snapshot.isCancelled
    return taken
  }
}

extension QueueSnapshot.Counts {
  /// Adds the end of a record's operation to these counts if `change` is 1. If `change` is -1, removes it
  /// again, unless it was not added.
  mutating func countEnd(of record: OperationRecord, by change: Int) {
    if change < 0, !record.hasFinishedInSlot { return }
    record.hasFinishedInSlot = change > 0
    let isCancelled = record.snapshot.isCancelled
    cancelled += isCancelled ? change : 0
    finished += isCancelled ? 0 : change
    failed += record.snapshot.hasFailed ? change : 0
  }

  /// Returns counts in which these operations, which still hold their slots, have finished.
  func finishing(_ ended: Self) -> Self {
    var counts = self
    counts.executing -= ended.finished + ended.cancelled
    // The queue may not have counted a cancellation of this moment yet.
    counts.cancelling = max(0, counts.cancelling - ended.cancelled)
    counts.finished += ended.finished
    counts.failed += ended.failed
    counts.cancelled += ended.cancelled
    return counts
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
  /// The errors of failed operations, and the reasons of cancellations. The key is the index of the
  /// operation's record.
  var errors: [Int: any Error] = [:]
}
