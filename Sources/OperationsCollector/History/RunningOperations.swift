// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that have started and have not finished, sorted by id, of all queues together and of each queue.
///
/// A queue may execute a million asynchronous operations at once. A viewer receives only the
/// operations with the lowest ids.
struct RunningOperations {
  private var all = RowOrder()
  private var orders: [QueueReport.ID: RowOrder] = [:]
  /// The sort key and the queue with which each operation was added to the orders. A later report of the operation
  /// may have another key.
  private var places: [OperationReport.ID: (key: SortKey, queue: QueueReport.ID)] = [:]

  /// The number of running operations.
  var count: Int { places.count }

  /// Adds a running operation. If it is already present, nothing changes.
  mutating func insert(_ report: OperationReport) {
    guard places[report.id] == nil else { return }
    let key = SortKey(report, by: .id)
    places[report.id] = (key, report.queue)
    all.insert(key)
    orders[report.queue, default: RowOrder()].insert(key)
  }

  /// Removes an operation that no longer runs. If it is not present, nothing changes.
  mutating func remove(_ id: OperationReport.ID) {
    guard let place = places.removeValue(forKey: id) else { return }
    all.remove(place.key)
    orders[place.queue]?.remove(place.key)
  }

  /// Removes the orders of queues that no longer exist. Such queues have no running operations.
  mutating func keepQueues(_ ids: Set<QueueReport.ID>) {
    orders = orders.filter { $0.value.count > 0 || ids.contains($0.key) }
  }

  /// Returns the running operations with the lowest ids, up to a limit.
  func prefix(_ limit: Int) -> [OperationReport.ID] {
    all.prefix(limit, isReversed: false).map(\.id)
  }

  /// Returns the running operations of a queue with the lowest ids, up to a limit.
  func prefix(_ limit: Int, of queue: QueueReport.ID) -> [OperationReport.ID] {
    orders[queue]?.prefix(limit, isReversed: false).map(\.id) ?? []
  }
}
