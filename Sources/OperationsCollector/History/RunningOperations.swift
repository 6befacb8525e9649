// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that have started and have not finished, sorted by id.
///
/// A queue may execute a million asynchronous operations at once. A viewer receives only the
/// operations with the lowest ids.
struct RunningOperations {
  private var order = RowOrder()
  /// The sort key with which each operation was added to `order`. A later report of the operation
  /// may have another key.
  private var keys: [OperationReport.ID: SortKey] = [:]

  /// The number of running operations.
  var count: Int { keys.count }

  /// Adds a running operation. If it is already present, nothing changes.
  mutating func insert(_ report: OperationReport) {
    guard keys[report.id] == nil else { return }
    let key = SortKey(report, by: .id)
    keys[report.id] = key
    order.insert(key)
  }

  /// Removes an operation that no longer runs. If it is not present, nothing changes.
  mutating func remove(_ id: OperationReport.ID) {
    if let key = keys.removeValue(forKey: id) { order.remove(key) }
  }

  /// Returns the running operations with the lowest ids, up to a limit.
  func prefix(_ limit: Int) -> [OperationReport.ID] {
    order.prefix(limit, isReversed: false).map(\.id)
  }
}
