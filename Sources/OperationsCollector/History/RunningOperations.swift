// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that have started and have not finished, sorted by id within each queue.
///
/// A queue may execute a million asynchronous operations at once. A viewer receives only the
/// operations with the lowest ids.
struct RunningOperations {
  private var orders: [QueueReport.ID: RowOrder] = [:]
  /// The sort key and the queue with which each operation was added to `orders`. A later report of the operation
  /// may have another key.
  private var places: [OperationReport.ID: (key: SortKey, queue: QueueReport.ID)] = [:]

  /// The number of running operations.
  var count: Int { places.count }

  /// Adds a running operation. If it is already present, nothing changes.
  mutating func insert(_ report: OperationReport) {
    guard places[report.id] == nil else { return }
    let key = SortKey(report, by: .id)
    places[report.id] = (key, report.queue)
    orders[report.queue, default: RowOrder()].insert(key)
  }

  /// Removes an operation that no longer runs. If it is not present, nothing changes.
  mutating func remove(_ id: OperationReport.ID) {
    guard let place = places.removeValue(forKey: id) else { return }
    orders[place.queue]?.remove(place.key)
  }

  /// Removes the orders of queues that no longer exist. Such queues have no running operations.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    orders = orders.filter { $0.value.count > 0 || ids.contains($0.key) }
  }

  /// Returns the running operations with the lowest ids, up to a limit.
  func prefix(_ limit: Int) -> [OperationReport.ID] {
    let firsts = orders.values.map { $0.prefix(limit, isReversed: false) }
    if firsts.count == 1 { return firsts[0].map(\.id) }
    return firsts.joined().map(\.id).sorted().prefix(limit).map { $0 }
  }

  /// Returns the running operations of a queue with the lowest ids, up to a limit.
  func prefix(_ limit: Int, of queue: QueueReport.ID) -> [OperationReport.ID] {
    orders[queue]?.prefix(limit, isReversed: false).map(\.id) ?? []
  }
}
