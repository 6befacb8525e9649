// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The one place that knows whether queues have barriers yet.
enum Barriers {
  static let areThere = false

  static func add(
    to queue: OperationQueue, asOperation isOperation: Bool, _ block: @escaping @Sendable () -> Void
  ) {
    if isOperation { queue.addOperation(block) }
  }

  /// Whether each barrier that the queue has chosen to start has begun.
  static func startedCount(in queue: OperationQueue) -> Int { 0 }
}
