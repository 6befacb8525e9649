// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that have started and not finished, by id.
///
/// A queue may run a million asynchronous operations at once, of which a viewer is told the first
/// few.
struct RunningOperations {
  private var order = RowOrder()
  /// What `order` holds of each: a key made of a later report would be another one.
  private var keys: [OperationReport.ID: SortKey] = [:]

  /// How many there are.
  var count: Int { keys.count }

  /// Takes in an operation; twice is harmless.
  mutating func insert(_ report: OperationReport) {
    guard keys[report.id] == nil else { return }
    let key = SortKey(report, by: .id)
    keys[report.id] = key
    order.insert(key)
  }

  /// Takes an operation out; one that is not there is ignored.
  mutating func remove(_ id: OperationReport.ID) {
    if let key = keys.removeValue(forKey: id) { order.remove(key) }
  }

  /// Those that were made first.
  func prefix(_ limit: Int) -> [OperationReport.ID] {
    order.prefix(limit, isReversed: false).map(\.id)
  }
}
