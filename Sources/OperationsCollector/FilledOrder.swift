// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sorted set of operations. Changes of operations are applied at once. The operations that
/// existed before the set are added step by step, so that the collector can do other work in
/// between.
struct FilledOrder {
  /// The number of operations that are added to the set before the time is checked.
  private static let step = 256

  /// The keys of the operations that were added to the set so far, in order.
  private(set) var order = RowOrder()
  /// The operations to add. The operations from the index `next` on have not been added yet.
  private var pending: [OperationReport.ID] = []
  private var next = 0
  /// The total time that adding operations to the set has taken so far.
  private(set) var fillingTime = Duration.zero

  /// Whether some operations have not been added to the set yet.
  var isFilling: Bool { next < pending.count }

  /// The number of operations in the set.
  var count: Int { order.count }

  /// Returns the first `limit` keys. If `isReversed` is `true`, returns the last `limit` keys, the
  /// last key first.
  func prefix(_ limit: Int, isReversed: Bool = false) -> [SortKey] {
    order.prefix(limit, isReversed: isReversed)
  }

  /// Removes all operations from the set. ``fill(until:_:)`` then adds the given operations.
  mutating func begin(with operations: [OperationReport.ID]) {
    self = FilledOrder()
    pending = operations
  }

  /// Adds operations until all are added or a time is reached. Operations for which `key` returns
  /// `nil` are skipped.
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

  /// Replaces the key of an operation. A key is `nil` if the operation does not belong in the set.
  mutating func replace(_ old: SortKey?, by new: SortKey?) {
    if old == new { return }
    if let old { order.remove(old) }
    if let new { order.insert(new) }
  }
}
