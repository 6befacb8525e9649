// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations of a queue that execute or that it starts next, and the lines that show them.
struct QueueOperationRows {
  /// One line.
  enum Row: Sendable, Equatable {
    /// A rule above a list of operations, with a title.
    case rule(String)
    /// An operation. `position` is its place in the order in which the queue starts its ready operations; `nil` if it
    /// is not one of them.
    case operation(OperationReport.ID, position: Int?)
    /// Words about operations that have no line.
    case words(String)
    /// The line that stands for the selected operation after it has left the queue.
    case ghost
  }

  /// The executing operations, the longest run first, and then the ready operations in the order in which they start.
  let ids: [OperationReport.ID]
  /// The number of ids that execute.
  private let executingCount: Int
  private let queue: QueueReport
  /// The order that the process has reported; `nil` if it has reported none.
  private let order: RunOrder?

  /// Creates the lines of a queue.
  init(of queue: QueueReport, in monitored: MonitoredState) {
    self.queue = queue
    order = monitored.runOrders[queue.id]
    let operations = monitored.operations
    let executing: [OperationReport.ID]
    if let order {
      let known = order.executing.compactMap { operations[$0] }
      let unknown = order.executing.filter { !operations.contains($0) }
      executing = Self.sorted(known) + unknown
    } else {
      executing = Self.sorted(
        operations.all.filter { report in
          report.queue == queue.id && (report.state == .executing || report.state == .cancelling)
        })
    }
    executingCount = executing.count
    ids = executing + (order?.ready ?? [])
  }

  /// The operation that the queue starts next or, if none is known to be ready, the first executing operation; `nil` if
  /// there is neither.
  var next: OperationReport.ID? { order?.ready.first ?? ids.first }

  /// The lines, with the ghost cursor before the operation at `ghost`; `nil` for no ghost cursor.
  func rows(ghost: Int? = nil) -> [Row] {
    let counts = queue.counts
    var rows = [Row.rule(executingTitle)]
    func append(_ id: OperationReport.ID, at index: Int, position: Int?) {
      if index == ghost { rows.append(.ghost) }
      rows.append(.operation(id, position: position))
    }
    for (index, id) in ids.prefix(executingCount).enumerated() {
      append(id, at: index, position: nil)
    }
    let hidden = counts.executing - executingCount
    if hidden > 0 { rows.append(.words("and \(CountText.text(hidden)) more")) }
    rows.append(.rule(readyTitle))
    for (index, id) in ids.enumerated().dropFirst(executingCount) {
      append(id, at: index, position: index - executingCount + 1)
    }
    if ghost == ids.count { rows.append(.ghost) }
    let readyCount = ids.count - executingCount
    let rest = counts.ready - readyCount
    if readyCount > 0, rest > 0 {
      rows.append(.words("and \(CountText.text(rest)) more, in an order that is not shown"))
    } else if readyCount > 0, order?.isCut == true {
      rows.append(.words("and more, in an order that is not shown"))
    } else if rest > 0 {
      rows.append(.words("the order of the ready operations is not known"))
    }
    return rows
  }

  private var executingTitle: String {
    let count = queue.counts.executing
    return count == 0 && executingCount == 0
      ? "executing: none" : "executing \(CountText.text(max(count, executingCount))), longest first"
  }

  private var readyTitle: String {
    let count = max(queue.counts.ready, ids.count - executingCount)
    guard count > 0 else { return "ready: none" }
    let words = [
      "ready \(CountText.text(count))", queue.isSuspended ? "held until the queue is resumed" : nil,
      ids.count > executingCount ? "next first" : nil,
      order?.isEstimated == true ? "estimated order" : nil,
    ]
    return words.compactMap { $0 }.joined(separator: ", ")
  }

  private static func sorted(_ reports: [OperationReport]) -> [OperationReport.ID] {
    reports.map { SortKey($0, by: .time) }.sorted().map(\.id)
  }
}
