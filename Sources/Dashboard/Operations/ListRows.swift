// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Which operations the list shows, and in which order.
struct Listing: Sendable, Equatable {
  /// The order of the rows.
  var order = SortOrder()
  /// What is listed; `nil` for everything.
  var filter: OperationFilter?
  /// Whether what is over is left out.
  var hidesOver = false
  /// Whether only what a warning is about is listed.
  var showsWarnedOnly = false

  /// Why an operation is not listed.
  enum Exclusion {
    /// It is over, or its process has ended.
    case over
    /// No warning is about it.
    case unwarned
    /// It does not match the filter.
    case filtered
  }

  /// Why an operation is not listed; `nil` if it is.
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

/// The rows of the list: the first of what the listing holds, and the selected operation behind them
/// where it is none of these.
struct ListRows: Sendable, Equatable {
  /// More rows than this are not shown, nor asked for.
  static let limit = 500

  /// The rows from the top.
  private(set) var keys: [SortKey] = []
  /// How many of them, from the top, are there by their place in the order.
  private(set) var orderedCount = 0
  /// How many rows there would be without a limit, of the operations that are known.
  private(set) var matchCount = 0

  private var indexes: [OperationReport.ID: Int] = [:]
  private var isReversed = false

  /// No rows.
  init() {}

  /// The rows of what is known.
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

  /// How many rows there are.
  var count: Int { keys.count }

  /// The row of an operation; `nil` where it has none.
  func index(of id: OperationReport.ID?) -> Int? { id.flatMap { indexes[$0] } }

  /// Where an operation with this key is, or would be.
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
