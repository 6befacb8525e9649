// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The order in which one queue starts its ready operations.
///
/// The order is read before the update is made. A changed priority, a barrier and a cancellation change it. An
/// operation that has started since then is still one of ``ready``.
public struct RunOrder: Sendable, Equatable {
  /// The queue.
  public var queue: QueueReport.ID
  /// The operations that occupy the slots of the queue, the longest run first. Their number is at most the limit of the
  /// request. If all run orders of an update exceed ``WireLimits/mostRunOrderIDs``, there are fewer, and ``isCut`` does
  /// not show it.
  public var executing: [OperationReport.ID]
  /// The ready operations, the next one first. Their number is at most the limit of the request. For a suspended
  /// queue, it is the order after the queue is resumed.
  public var ready: [OperationReport.ID]
  /// Whether the queue has further ready operations.
  public var isCut: Bool
  /// Whether the order is computed from the reports of the operations, so that it may differ from the order of the
  /// queue. The order of a recording is an estimate. A viewer sets this value; a process does not send it.
  public var isEstimated = false

  /// Creates an order. By default, the queue has no operations.
  public init(
    queue: QueueReport.ID, executing: [OperationReport.ID] = [], ready: [OperationReport.ID] = [],
    isCut: Bool = false
  ) {
    self.queue = queue
    self.executing = executing
    self.ready = ready
    self.isCut = isCut
  }
}
