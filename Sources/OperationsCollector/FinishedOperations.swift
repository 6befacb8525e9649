// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The finished and cancelled operations that a collector keeps, and the order in which it removes them.
///
/// Removing an operation takes constant time on average.
struct FinishedOperations {
  /// The maximum number and the maximum age of the operations to keep.
  struct Retention: Equatable {
    /// The maximum number of operations, the newest ones.
    var count = 10_000
    /// The maximum age of the operations; `nil` for no limit.
    var age: Duration? = .seconds(60)
    /// The maximum number of operations that have failed or were cancelled, the newest ones, and that are kept in
    /// addition to the others.
    var unsuccessfulCount = 0

    /// The retention for a process whose operations are looked up long after they have finished.
    static let lasting = Retention(age: nil, unsuccessfulCount: 10_000)
  }

  private struct Entry {
    let id: OperationReport.ID
    let time: MonitorTime
    let isSuccessful: Bool
  }

  private var newest = Line<Entry>()
  /// Older operations, which have failed or were cancelled.
  private var unsuccessful = Line<OperationReport.ID>()

  /// The number of operations.
  var count: Int { newest.count + unsuccessful.count }

  /// Adds an operation that has finished later than the others.
  mutating func insert(_ report: OperationReport) {
    newest.append(
      Entry(
        id: report.id, time: report.finished ?? MonitorTime(nanoseconds: 0),
        isSuccessful: report.state == .finished))
  }

  /// Returns the last operations, the newest first, up to a limit.
  func last(_ limit: Int) -> some Collection<OperationReport.ID> {
    newest.items.suffix(limit).reversed().lazy.map(\.id)
  }

  /// Removes and returns the next operation that must not be kept; `nil` if there is none.
  mutating func removeExpired(_ retention: Retention, at now: MonitorTime) -> OperationReport.ID? {
    while let oldest = newest.first {
      let isYoung = retention.age.map { now - oldest.time <= $0 } ?? true
      if newest.count <= retention.count, isYoung { break }
      newest.removeFirst()
      if oldest.isSuccessful || retention.unsuccessfulCount == 0 { return oldest.id }
      unsuccessful.append(oldest.id)
    }
    guard unsuccessful.count > retention.unsuccessfulCount else { return nil }
    defer { unsuccessful.removeFirst() }
    return unsuccessful.first
  }
}

/// A sequence whose first element can be removed in constant time on average.
private struct Line<Element> {
  private var all: [Element] = []
  /// The number of removed elements at the beginning of the array.
  private var start = 0

  var items: ArraySlice<Element> { all[start...] }
  var count: Int { all.count - start }
  var first: Element? { items.first }

  mutating func append(_ element: Element) { all.append(element) }

  mutating func removeFirst() {
    start += 1
    guard start > 1_024, start > all.count / 2 else { return }
    all.removeFirst(start)
    start = 0
  }
}
