// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The settings that determine which operations the list contains, and in which order.
struct Listing: Sendable, Equatable {
  /// The order of the rows.
  var order = SortOrder()
  /// The filter of the list; `nil` if all operations match.
  var filter: OperationFilter?
  /// Whether the list hides finished and cancelled operations.
  var hidesOver = false
  /// Whether the list contains only operations with a warning.
  var showsWarnedOnly = false

  /// The reason why the list does not contain an operation.
  enum Exclusion {
    /// The operation has ended, or its process has ended.
    case over
    /// The operation has no warning, and the list contains only operations with a warning.
    case unwarned
    /// The operation does not match the filter.
    case filtered
  }

  /// Returns the reason why the list does not contain an operation; `nil` if the list contains it.
  func exclusion(
    of report: OperationReport, in monitored: MonitoredState, at now: MonitorTime
  ) -> Exclusion? {
    if hidesOver, report.state.isOver || monitored.hasEnded(report.id) { return .over }
    if showsWarnedOnly, !monitored.warned.contains(report.id) { return .unwarned }
    guard let filter else { return nil }
    let queueName = monitored.queue(report.queue)?.name ?? ""
    return filter.matches(report, queueName: queueName, at: now) ? nil : .filtered
  }
}

/// The rows of the list: the first ``limit`` operations in the order of the list. If the selected operation
/// is not one of these, an additional last row shows it.
struct ListRows: Sendable, Equatable {
  /// The maximum number of rows that the list shows and requests from the monitor.
  static let limit = 500

  /// The sort keys of the rows, from the first row on.
  private(set) var keys: [SortKey] = []
  /// The number of rows without the additional last row for the selected operation.
  private(set) var orderedCount = 0
  /// The number of known operations that the list would contain if the number of rows had no limit.
  private(set) var matchCount = 0

  private var indexes: [OperationReport.ID: Int] = [:]
  private var isReversed = false

  /// Creates an empty list.
  init() {}

  /// Creates the rows for the known operations. The rows of `cancelled` that stay at their places have rows
  /// even if the list would not contain their operations.
  init(
    of monitored: MonitoredState, as listing: Listing, selected: OperationReport.ID?,
    cancelled: CancelledRows = CancelledRows(), at now: MonitorTime
  ) {
    isReversed = listing.order.isReversed
    let column = listing.order.column
    let all = monitored.operations.all.compactMap { report -> SortKey? in
      if let key = cancelled.key(of: report.id) { return key }
      guard listing.exclusion(of: report, in: monitored, at: now) == nil else { return nil }
      let queueName = monitored.queue(report.queue)?.name ?? ""
      return SortKey(
        report, queueName: queueName, by: column, isGone: monitored.hasEnded(report.id),
        position: monitored.position(of: report.id)?.number)
    }
    matchCount = all.count
    let sorted = listing.order.isReversed ? all.sorted(by: >) : all.sorted()
    keys = Array(sorted.prefix(Self.limit))
    orderedCount = keys.count
    if let selected, let key = sorted.dropFirst(Self.limit).first(where: { $0.id == selected }) {
      keys.append(key)
    }
    indexes = Dictionary(
      zip(keys.lazy.map(\.id), keys.indices), uniquingKeysWith: { first, _ in first })
  }

  /// The number of rows.
  var count: Int { keys.count }

  /// Returns the index of an operation's row; `nil` if the operation has no row.
  func index(of id: OperationReport.ID?) -> Int? { id.flatMap { indexes[$0] } }

  /// Returns the index of the row with this key. If there is no such row, returns the index at which it would
  /// be inserted.
  func insertionIndex(of key: SortKey) -> Int {
    var low = 0
    var high = orderedCount
    while low < high {
      let middle = (low + high) / 2
      let isBefore = isReversed ? keys[middle] > key : keys[middle] < key
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
