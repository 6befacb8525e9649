// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The order in which a queue will start its ready operations, up to a limit.
package struct ReadyOrder: Sendable, Equatable {
  /// The ready operations, the next one first. The operations behind a barrier follow those before it. Barriers are not
  /// included.
  package let operations: [OperationID]
  /// Whether the queue has further ready operations.
  package let isCut: Bool

  /// Reads the identifiers of operations. The initializer acquires the locks of the operations, and may release the
  /// last reference to one of them, so it must not be called under a queue's lock.
  init(_ first: FirstReady) {
    operations = first.operations.map(\.id)
    isCut = first.isCut
  }
}

/// The ready operations that a queue will start first.
struct FirstReady {
  let operations: [Operation]
  let isCut: Bool
}

extension OperationQueue {
  /// Returns the order in which the queue will start its ready operations.
  ///
  /// - Parameter limit: The maximum number of operations.
  /// - Returns: The order at the moment of the call.
  package final func readyOrder(limit: Int) -> ReadyOrder {
    ReadyOrder(core.withScheduler { scheduler, _ in scheduler.firstReady(limit) })
  }
}
