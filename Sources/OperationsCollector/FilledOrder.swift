// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Operations in an order. Changes are taken over at once; what was there before is taken in step by
/// step, so that the collector has time for other things in between.
struct FilledOrder {
  /// How many operations are taken in before it looks at the time.
  private static let step = 256

  private var order = RowOrder()
  /// The operations that are still to be taken in, from `next` on.
  private var pending: [OperationReport.ID] = []
  private var next = 0
  /// How long taking in has taken so far.
  private(set) var fillingTime = Duration.zero

  /// Whether operations are still to be taken in.
  var isFilling: Bool { next < pending.count }

  /// How many operations are in it.
  var count: Int { order.count }

  /// The first `limit` keys, or the last, from the outside in.
  func prefix(_ limit: Int, isReversed: Bool = false) -> [SortKey] {
    order.prefix(limit, isReversed: isReversed)
  }

  /// Begins anew, with these operations to be taken in.
  mutating func begin(with operations: [OperationReport.ID]) {
    self = FilledOrder()
    pending = operations
  }

  /// Takes operations in, each by its key if it has one, until it is done or a time is reached.
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

  /// Takes over a change: `nil` stands for an operation that does not belong into it.
  mutating func replace(_ old: SortKey?, by new: SortKey?) {
    if old == new { return }
    if let old { order.remove(old) }
    if let new { order.insert(new) }
  }
}
