// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The order in which a queue starts its ready operations.
///
/// This type and the two properties of updates are those of version 1.4 of the protocol. They are here until
/// MonitorProtocol has them.
struct RunOrder: Sendable, Equatable {
  /// The queue.
  var queue: QueueReport.ID
  /// The executing operations of the queue.
  var executing: [OperationReport.ID] = []
  /// The ready operations of the queue, in the order in which the queue starts them.
  var ready: [OperationReport.ID] = []
  /// Whether the queue has more ready operations than ``ready`` contains.
  var isCut = false
  /// Whether the order is estimated from the reports of operations.
  var isEstimated = false
}

extension Update {
  /// The order of the ready operations of each queue for which the viewer has requested it.
  var runOrders: [RunOrder] { [] }

  /// The groups of the operations of the list; `nil` if the viewer has not requested them.
  var groups: OperationGroups? { nil }
}

/// The groups of the operations of the list.
struct OperationGroups: Sendable, Equatable {
  /// The value by which operations are grouped.
  enum By: Sendable, Equatable {
    case kind, queue
  }

  /// The value by which operations are grouped.
  var by: By
}
