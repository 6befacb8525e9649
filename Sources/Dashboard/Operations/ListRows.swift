// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations of the list, and their order.
struct Listing: Sendable, Equatable {
  /// The order of the rows.
  var order = SortOrder()
  /// The filter of the list; `nil` for everything.
  var filter: OperationFilter?
  /// Whether finished and cancelled operations are hidden.
  var hidesOver = false
  /// Whether only operations with a warning are listed.
  var showsWarnedOnly = false

  /// The reason why an operation is not listed.
  enum Exclusion {
    /// The operation has ended, or its process has.
    case over
    /// The operation has no warning.
    case unwarned
    /// It does not match the filter.
    case filtered
  }

  /// Returns why an operation is not listed; `nil` if it is.
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

/// The rows of the list: the first operations of the listing, and the selected operation after them if it is
/// not among them.
struct ListRows: Sendable, Equatable {
  /// The maximum number of rows that are shown and requested.
  static let limit = 500

  /// The rows from the top.
  private(set) var keys: [SortKey] = []
  /// The number of rows, from the top, that are listed because of their place in the order.
  private(set) var orderedCount = 0
  /// The number of known operations that the list would have without a limit.
  private(set) var matchCount = 0

  private var indexes: [OperationReport.ID: Int] = [:]
  private var isReversed = false

  /// Creates an empty list.
  init() {}

  /// Creates the rows of the known operations.
  init(
    of monitored: MonitoredState, as listing: Listing, selected: OperationReport.ID?,
    at now: MonitorTime
  ) {
    isReversed = listing.order.isReversed
    let column = listing.order.column
    let all = monitored.operations.all.compactMap { report -> SortKey? in
      guard listing.exclusion(of: report, in: monitored, at: now) == nil else { return nil }
      let queueName = monitored.queue(report.queue)?.name ?? ""
      return SortKey(
        report, queueName: queueName, by: column, isGone: monitored.hasEnded(report.id))
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

  /// Returns the row of an operation; `nil` if it has none.
  func index(of id: OperationReport.ID?) -> Int? { id.flatMap { indexes[$0] } }

  /// Returns the index of an operation with this key, or the index at which it would be inserted.
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
