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
  /// The groups of the operations in the set; `nil` if they are not counted.
  private(set) var groups: GroupCounts?
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
  ///
  /// - Parameters:
  ///   - operations: The operations.
  ///   - grouping: The value by which the set counts its operations; `nil` if it does not count them.
  mutating func begin(
    with operations: [OperationReport.ID], groupedBy grouping: OperationGroups.By? = nil
  ) {
    self = FilledOrder()
    pending = operations
    groups = grouping.map { GroupCounts(by: $0) }
  }

  /// Ends the counting of groups.
  mutating func forgetGroups() { groups = nil }

  /// Adds operations until all are added or a time is reached. Operations for which `key` returns
  /// `nil` are skipped. The operations are not counted in groups.
  mutating func fill(
    until deadline: ContinuousClock.Instant, _ key: (OperationReport.ID) -> SortKey?
  ) {
    fill(
      until: deadline,
      adding: { order, id in
        if let key = key(id) { order.order.insert(key) }
      })
  }

  /// Adds operations until all are added or a time is reached, and counts them in their groups. Operations for which
  /// `place` returns `nil` are skipped.
  mutating func fill(
    until deadline: ContinuousClock.Instant,
    counting place: (OperationReport.ID) -> (key: SortKey, report: OperationReport)?
  ) {
    fill(
      until: deadline,
      adding: { order, id in
        guard let place = place(id), order.order.insert(place.key) else { return }
        order.groups?.add(place.report)
      })
  }

  private mutating func fill(
    until deadline: ContinuousClock.Instant,
    adding add: (inout FilledOrder, OperationReport.ID) -> Void
  ) {
    guard isFilling else { return }
    let start = ContinuousClock.now
    defer { fillingTime += start.duration(to: .now) }
    while isFilling {
      for id in pending[next...].prefix(Self.step) {
        add(&self, id)
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

  /// Replaces the key and the report of an operation. A key is `nil` if the operation does not belong in the set.
  mutating func replace(
    _ old: SortKey?, _ oldReport: OperationReport, by new: SortKey?, _ newReport: OperationReport
  ) {
    guard groups != nil else { return replace(old, by: new) }
    if let old, old == new {
      if order.contains(old) { groups?.replace(oldReport, by: newReport) }
      return
    }
    if let old, order.remove(old) { groups?.remove(oldReport) }
    if let new, order.insert(new) { groups?.add(newReport) }
  }
}
