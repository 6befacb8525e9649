// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A sorted set of operations. Changes of operations are applied at once. The operations that
/// existed before the set are added step by step, so that the collector can do other work in
/// between. If groups are requested later, the operations of the set are counted step by step, in the order of
/// their keys.
struct FilledOrder {
  /// The number of operations that are added to the set before the time is checked.
  private static let step = 256
  /// The minimum time between two counts because ``GroupCounts/mustCountAgain`` is `true`.
  private static let recountInterval = Duration.seconds(5)

  /// The keys of the operations that were added to the set so far, in order.
  private(set) var order = RowOrder()
  /// The groups of the operations in the set that were counted so far; `nil` if none are requested.
  private var counts: ListCounts?
  /// Whether operations of the set remain to be counted: those whose keys are greater than ``lastCounted``.
  private(set) var isCounting = false
  /// The greatest key that was counted; `nil` before the first one, and while no operations remain to be counted.
  private var lastCounted: SortKey?
  /// The groups before operations are counted again; `nil` if they are counted for the first time.
  private var earlierCounts: ListCounts?
  private var lastRecount = MonitorTime(nanoseconds: 0)
  /// The operations to add. The operations from the index `next` on have not been added yet.
  private var pending: [OperationReport.ID] = []
  private var next = 0
  /// The total time that adding operations to the set has taken so far.
  private(set) var fillingTime = Duration.zero

  /// Whether some operations have not been added to the set yet.
  var isFilling: Bool { next < pending.count }

  /// The groups of the operations in the set; `nil` if they are not requested, or if they were not counted completely.
  var groups: ListCounts? { isCounting ? earlierCounts : counts }

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
  ///   - countsGroups: Whether the set counts its operations in groups.
  mutating func begin(with operations: [OperationReport.ID], countsGroups: Bool = false) {
    let lastRecount = lastRecount
    self = FilledOrder()
    self.lastRecount = lastRecount
    pending = operations
    counts = countsGroups ? ListCounts() : nil
  }

  /// Begins to count the operations of the set in groups. ``count(until:_:)`` then counts them. If they were counted
  /// before, the earlier groups are valid until then, but do not change.
  mutating func beginCounting() {
    (earlierCounts, counts) = (groups, ListCounts())
    (isCounting, lastCounted) = (true, nil)
  }

  /// Ends the counting of groups.
  mutating func forgetGroups() {
    (counts, earlierCounts, isCounting) = (nil, nil, false)
  }

  /// The time at which the operations must be counted again because the groups lack some of them; `nil` if the groups
  /// are complete, or if they would be too many.
  var nextRecount: MonitorTime? {
    guard !isFilling, !isCounting, counts?.mustCountAgain == true else { return nil }
    return lastRecount + Self.recountInterval
  }

  /// Begins to count the operations again if that is due.
  mutating func recountIfDue(at now: MonitorTime) {
    guard let due = nextRecount, due <= now else { return }
    lastRecount = now
    beginCounting()
  }

  /// Counts operations of the set in their groups until all are counted or a time is reached.
  mutating func count(
    until deadline: ContinuousClock.Instant, _ report: (OperationReport.ID) -> OperationReport?
  ) {
    while isCounting {
      let keys = order.chunk(after: lastCounted)
      for key in keys {
        if let report = report(key.id) { counts?.add(report) }
      }
      lastCounted = keys.last
      if keys.isEmpty { (isCounting, earlierCounts) = (false, nil) }
      if ContinuousClock.now >= deadline { return }
    }
  }

  /// Returns whether an operation of the set with this key is counted.
  private func isCounted(_ key: SortKey) -> Bool {
    guard isCounting else { return true }
    return lastCounted.map { key <= $0 } ?? false
  }

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
        if order.isCounted(place.key) { order.counts?.add(place.report) }
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
    guard counts != nil else { return replace(old, by: new) }
    if let old, old == new {
      if isCounted(old), order.contains(old) { counts?.replace(oldReport, by: newReport) }
      return
    }
    if let old, order.remove(old), isCounted(old) { counts?.remove(oldReport) }
    if let new, order.insert(new), isCounted(new) { counts?.add(newReport) }
  }
}
