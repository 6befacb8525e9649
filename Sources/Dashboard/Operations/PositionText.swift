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

/// The queues whose run orders the dashboard requests for the rows of the list.
struct PositionRequest: Sendable, Equatable {
  /// The queues of the rows on the screen, in the order of the rows.
  var queues: [QueueReport.ID] = []
  /// The time of the request; `nil` if the next rows may change it at once.
  var time: MonitorTime?

  /// The minimum time between two requests.
  static let interval = Duration.seconds(1)
}

extension Dashboard {
  /// Adds the run orders for the column of positions, for the order by position, and for the sentence about the selected
  /// operation to the requested data. The answer to a request for all queues has only those with the lowest ids, so only
  /// the order by position requests all queues.
  func addColumnInterest(to interest: inout Interest) {
    if showsList, isSortedByPosition {
      interest.runOrder = Interest.RunOrderRequest()
      return
    }
    let rows = positionRequest.queues
    let selected = selectedReadyQueue
    if let selected, rows.isEmpty {
      // The queue screen shows the selected operation, so its own request has the position.
      let isShown = detail == nil && warningList == nil && openQueueScreen?.queue == selected
      if isShown, interest.runOrder != nil { return }
    }
    guard selected != nil || !rows.isEmpty else { return }
    var request = interest.runOrder ?? Interest.RunOrderRequest()
    request.limit = WireLimits.mostRunOrderOperations
    for queue in (selected.map { [$0] } ?? []) + rows
    where request.queues.count < WireLimits.mostRunOrders {
      request.queues.insert(queue)
    }
    interest.runOrder = request
  }

  private var showsList: Bool { screen.view == .operations && shownGroups == nil }

  private var isSortedByPosition: Bool { list.listing.order.column == .position }

  /// Whether the list needs the positions of the operations on the screen: it has the column of positions, and it is not
  /// sorted by position.
  private var needsPositionsOfRows: Bool {
    guard showsList, !isSortedByPosition, live.lastUpdate != nil, let layout = screen.layout,
      ColumnPlan.mayHavePositions(layout, settings)
    else {
      return false
    }
    let view = OperationTableView(dashboard: self, layout: layout)
    return view.columns(Glyphs(isUnicode: configuration.isUnicode))[.position] != nil
  }

  /// Requests the run orders of the queues of the rows on the screen, if these are other queues, at most once a second.
  ///
  /// The monitor answers a new request at once, and the answer may have other rows.
  mutating func settlePositionRequest() {
    guard needsPositionsOfRows else {
      positionRequest = PositionRequest()
      return
    }
    if let moment = nextPositionRequest, moment > now { return }
    let queues = visibleUnfinishedQueues
    if Set(queues) != Set(positionRequest.queues) {
      positionRequest = PositionRequest(queues: queues, time: queues.isEmpty ? nil : now)
    }
  }

  /// The moment at which the dashboard requests the orders of the queues of the rows that are on the screen now; `nil`
  /// if it has requested them.
  var nextPositionRequest: MonitorTime? {
    guard let time = positionRequest.time, needsPositionsOfRows,
      Set(visibleUnfinishedQueues) != Set(positionRequest.queues)
    else { return nil }
    return time + PositionRequest.interval
  }

  /// The queues of the unfinished operations whose rows are on the screen, at most as many as one request may name.
  private var visibleUnfinishedQueues: [QueueReport.ID] {
    var queues: [QueueReport.ID] = []
    for key in visibleKeys where !key.isOver && queues.count < WireLimits.mostRunOrders {
      guard let queue = shown.operations[key.id]?.queue, !queues.contains(queue) else { continue }
      queues.append(queue)
    }
    return queues
  }

  /// The queue of the operation that the sentence describes, if this operation is ready; otherwise `nil`.
  private var selectedReadyQueue: QueueReport.ID? {
    guard !followsEvents, let selected, let report = shown.operations[selected],
      report.state.isReady, report.started == nil
    else { return nil }
    return report.queue
  }
}
