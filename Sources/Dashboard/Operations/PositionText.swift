// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Words about the position of a ready operation in the run order of its queue.
struct PositionText: Sendable, Equatable {
  /// The text for the column of positions: `3`, `~3` if the position is estimated, or `500+` if the operation is behind
  /// the reported part of the order.
  let cell: String
  /// The position as an ordinal number, for use in a sentence: `3rd`, `~3rd` or `after the 500th`.
  let ordinal: String

  /// The number of cells of the column of positions.
  static let width = 4

  /// Creates the words about an operation; `nil` if it is not ready, or if the position is not known.
  init?(_ report: OperationReport, in monitored: MonitoredState) {
    guard report.state.isReady, report.started == nil, !monitored.hasEnded(report.id) else {
      return nil
    }
    if let position = monitored.position(of: report.id) {
      let mark = position.isEstimated ? "~" : ""
      cell = "\(mark)\(position.number)"
      ordinal = mark + Self.ordinal(position.number)
    } else if let order = monitored.runOrders[report.queue], order.isCut, !order.ready.isEmpty {
      cell = "\(order.ready.count)+"
      ordinal = "after the \(Self.ordinal(order.ready.count))"
    } else {
      return nil
    }
  }

  /// Returns an ordinal number, such as `1st`, `2nd`, `3rd`, `4th`, `11th` or `21st`.
  static func ordinal(_ number: Int) -> String {
    let isTeen = (11...13).contains(number % 100)
    let ending =
      switch number % 10 {
      case 1 where !isTeen: "st"
      case 2 where !isTeen: "nd"
      case 3 where !isTeen: "rd"
      default: "th"
      }
    return "\(number)\(ending)"
  }
}

extension OperationState {
  /// Whether an operation in this state may be in the run order of its queue, if it has not started.
  fileprivate var isReady: Bool {
    switch self {
    case .ready, .held, .cancelling: true
    case .waiting, .executing, .finished, .failed, .cancelled: false
    }
  }
}

extension Dashboard {
  /// Adds the run orders for the column of positions, for the order by position, and for the sentence about the
  /// selected operation to the requested data.
  func addColumnInterest(to interest: inout Interest) {
    if screen.view == .operations, shownGroups == nil, needsAllPositions {
      interest.runOrder = Interest.RunOrderRequest()
    } else if let queue = selectedReadyQueue {
      // The queue screen shows the selected operation, so its own request has the position.
      let isShown = detail == nil && warningList == nil && openQueueScreen?.queue == queue
      if isShown, interest.runOrder != nil { return }
      let queues = (interest.runOrder?.queues ?? []).union([queue])
      interest.runOrder = Interest.RunOrderRequest(queues: queues)
    }
  }

  /// Whether the list needs the positions of all operations: the list has the column of positions, or it is sorted by
  /// position.
  private var needsAllPositions: Bool {
    if list.listing.order.column == .position { return true }
    guard live.lastUpdate != nil, let layout = screen.layout,
      ColumnPlan.mayHavePositions(layout, settings)
    else {
      return false
    }
    let view = OperationTableView(dashboard: self, layout: layout)
    return view.columns(Glyphs(isUnicode: configuration.isUnicode))[.position] != nil
  }

  /// The queue of the operation that the sentence describes, if this operation is ready; otherwise `nil`.
  private var selectedReadyQueue: QueueReport.ID? {
    guard !followsEvents, let selected, let report = shown.operations[selected],
      report.state.isReady, report.started == nil
    else { return nil }
    return report.queue
  }
}
