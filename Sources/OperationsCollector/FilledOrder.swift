// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sorted set of operations. Changes are applied at once. Existing operations are added step by
/// step, so that the collector can do other work in between.
struct FilledOrder {
  /// The number of operations that are added before the time is checked.
  private static let step = 256

  private var order = RowOrder()
  /// The operations that are not added yet, from `next` on.
  private var pending: [OperationReport.ID] = []
  private var next = 0
  /// The total time for adding operations so far.
  private(set) var fillingTime = Duration.zero

  /// Whether some operations are not added yet.
  var isFilling: Bool { next < pending.count }

  /// The number of operations in the set.
  var count: Int { order.count }

  /// Returns the first `limit` keys, or, if reversed, the last ones, beginning with the last.
  func prefix(_ limit: Int, isReversed: Bool = false) -> [SortKey] {
    order.prefix(limit, isReversed: isReversed)
  }

  /// Begins with an empty set, and with these operations to add.
  mutating func begin(with operations: [OperationReport.ID]) {
    self = FilledOrder()
    pending = operations
  }

  /// Adds operations by their keys, until all are added or a time is reached. Operations without a
  /// key are skipped.
  mutating func fill(
    until deadline: ContinuousClock.Instant, _ key: (OperationReport.ID) -> SortKey?
  ) {
    guard isFilling else { return }
    let start = ContinuousClock.now
    defer { fillingTime += start.duration(to: .now) }
    while isFilling {
      for id in pending[next...].prefix(Self.step) {
        if let key = key(id) { order.insert(key) }
      }
      next = min(pending.count, next + Self.step)
      if ContinuousClock.now >= deadline { break }
    }
    guard !isFilling else { return }
    pending = []
    next = 0
  }

  /// Applies a change. `nil` means that the operation does not belong in the set.
  mutating func replace(_ old: SortKey?, by new: SortKey?) {
    if old == new { return }
    if let old { order.remove(old) }
    if let new { order.insert(new) }
  }
}
