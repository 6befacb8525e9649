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

  /// Returns the lines for a number of rows on the screen.
  ///
  /// If there are too few rows, only some of the executing operations have lines, so that the operation that the queue
  /// starts next is on the screen. While an executing operation is selected, all of them have lines.
  func rows(height: Int, on screen: QueueScreenState? = nil) -> [Row] {
    let ready = readyRows(ghost: screen?.ghost)
    let hiddenCount = max(0, queue.counts.executing - executingCount)
    let most = max(height - 1 - ready.count, min(height / 2 - 1, height - 3), 0)
    let isSelected = screen.map { $0.selected != nil && $0.index < executingCount } ?? false
    if !isSelected, executingCount + min(hiddenCount, 1) > most {
      let shown = ids.prefix(min(most, executingCount))
      let title = executingTitle(longest: shown.count)
      return [.rule(title)] + shown.map { .operation($0, position: nil) } + ready
    }
    var rows = [Row.rule(executingTitle(longest: nil))]
    for (index, id) in ids.prefix(executingCount).enumerated() {
      if index == screen?.ghost { rows.append(.ghost) }
      rows.append(.operation(id, position: nil))
    }
    if hiddenCount > 0 { rows.append(.words("and \(CountText.text(hiddenCount)) more")) }
    return rows + ready
  }

  /// The lines of the ready operations, with the ghost cursor before the operation at `ghost`; `nil` for no ghost
  /// cursor among them.
  private func readyRows(ghost: Int?) -> [Row] {
    var rows = [Row.rule(readyTitle)]
    for (index, id) in ids.enumerated().dropFirst(executingCount) {
      if index == ghost { rows.append(.ghost) }
      rows.append(.operation(id, position: index - executingCount + 1))
    }
    if ghost == ids.count { rows.append(.ghost) }
    return rows + (readyRest.map { [.words($0)] } ?? [])
  }

  /// The words about ready operations that have no line; `nil` if there are none.
  private var readyRest: String? {
    let readyCount = ids.count - executingCount
    let rest = queue.counts.ready - readyCount
    if readyCount > 0, rest > 0 {
      return "and \(CountText.text(rest)) more, whose order is not known"
    }
    if readyCount > 0, order?.isCut == true { return "and more, whose order is not known" }
    return rest > 0 ? "the order of the ready operations is not known" : nil
  }

  /// Returns the title above the executing operations. `longest` is the number of those that have a line; `nil` if all
  /// known ones have a line.
  private func executingTitle(longest: Int?) -> String {
    let count = max(queue.counts.executing, executingCount)
    guard count > 0 else { return "executing: none" }
    let words = "executing \(CountText.text(count))"
    guard let longest else { return "\(words), longest first" }
    return longest == 0
      ? words : "\(words); the \(longest == 1 ? "longest run" : "\(longest) longest runs")"
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
