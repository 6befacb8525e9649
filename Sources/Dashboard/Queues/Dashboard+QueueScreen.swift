// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// The screen of one queue; `nil` if it is closed or another view is shown.
  var openQueueScreen: QueueScreenState? { screen.view == .queues ? queueScreen : nil }

  /// Opens the screen of the selected queue.
  mutating func openQueue() -> [Effect] {
    guard let queue = selectedQueue else {
      show("no queue is selected", isWarning: true)
      return [.bell]
    }
    queueScreen = QueueScreenState(queue)
    return []
  }

  /// Performs an action of the queue screen.
  mutating func perform(_ key: KeyAction.QueueScreen) -> [Effect] {
    guard let old = openQueueScreen else { return [.bell] }
    let queues = shown.queues
    self.queues.step(by: key == .nextQueue ? 1 : -1, in: queues, height: pageHeight)
    guard let id = self.queues.id, id != old.queue, let queue = shown.queue(id) else {
      show("there is no other queue")
      return [.bell]
    }
    queueScreen = QueueScreenState(queue)
    return []
  }

  /// Whether the queue screen shows the operation that the queue starts next as selected, whichever it is.
  var followsNextOperation: Bool {
    detail == nil && warningList == nil && openQueueScreen?.follows == true
  }

  /// Keeps the next operation of the queue screen selected if an action concerns it. A command for the queue does not
  /// concern it.
  mutating func holdNextOperation(before action: KeyAction) {
    if case .queue = action { return }
    if followsNextOperation, concernsEvent(action) { queueScreen?.hold() }
  }

  /// Moves the selection of the queue screen by `offset` operations, at most to the first or the last one.
  mutating func moveInQueueScreen(by offset: Int) {
    guard let queue = queueScreen.flatMap({ shown.queue($0.queue) }) else { return }
    let (list, height) = (QueueOperationRows(of: queue, in: shown), queueListHeight)
    queueScreen?.move(by: offset, in: list, height: height)
  }

  /// Selects an operation on the queue screen. If the screen does not show it, shows its details.
  mutating func showInQueueScreen(_ id: OperationReport.ID) {
    if let queue = queueScreen.flatMap({ shown.queue($0.queue) }) {
      let (list, height) = (QueueOperationRows(of: queue, in: shown), queueListHeight)
      if queueScreen?.select(id, in: list, height: height) == true { return }
    }
    detail = DetailState(id: id)
  }

  /// Requests the details of the selected operation for the key `b`. Returns `false` if this is not necessary, or not
  /// possible because the display is paused or no details will arrive.
  mutating func awaitDetail(of id: OperationReport.ID) -> Bool {
    guard keyContext == .queue, paused == nil, !isUnanswered, shown.detail?.id != id,
      let next = queueRequest.next, next != id, let report = shown.operations[id],
      !report.state.isOver
    else { return false }
    // A recording has no details of operations that have started.
    if replay != nil, report.started != nil { return false }
    let process = live.processes.first { $0.number == id.processNumber }
    if let process, process.connection != .live { return false }
    queueScreen?.awaited = id
    return true
  }

  /// Goes to the blocker of the operation for which the key `b` was pressed, if its details have arrived.
  mutating func goToAwaitedBlocker() -> [Effect] {
    guard let id = queueScreen?.awaited,
      shown.detail?.id == id || shown.operations.state(of: id)?.isOver != false
    else { return [] }
    queueScreen?.awaited = nil
    return keyContext == .queue && queueScreen?.selected == id ? goToBlocker() : []
  }

  /// Keeps the selection of the queue screen valid after the monitored state or the size has changed. If another queue
  /// was selected or another view is shown, closes the screen.
  mutating func settleQueueScreen() {
    if let state = queueScreen {
      let isOther = queues.id.map { $0 != state.queue } ?? false
      if screen.view != .queues || isOther {
        queueScreen = nil
        layOut()
      } else if let queue = shown.queue(state.queue) {
        let (list, height) = (QueueOperationRows(of: queue, in: shown), queueListHeight)
        queueScreen?.name = queue.label.clipped(to: 200)
        queueScreen?.settle(in: list, height: height)
      }
    }
    settleQueueRequest()
  }

  /// The number of lines that the queue screen has for operations; at least 1.
  var queueListHeight: Int {
    max(
      1,
      overlayHeight
        - QueueScreenView.Parts(height: overlayHeight, columns: screen.size.columns).height)
  }

  // MARK: The operations of the selected queue below the table

  /// The minimum number of rows for the operations below the table: the title, the sentence about the next operation,
  /// two rules and an operation.
  private static let fewestSummaryRows = 5

  /// The queue whose operations are shown: that of the queue screen, or the selected one.
  var summarizedQueue: QueueReport? {
    (openQueueScreen?.queue ?? queues.id).flatMap { shown.queue($0) }
  }

  /// Returns the rows for the operations of the selected queue below the table; `nil` if there are too few rows.
  func queueSummaryRows(in layout: Layout) -> Range<Int>? {
    let lines = queues.lines(of: shown.queues, height: layout.bodyHeight).count
    let rows = layout.body.dropFirst(lines + 1)
    return rows.count >= Self.fewestSummaryRows && queues.id != nil ? rows : nil
  }

  /// The ids of the queues whose rows are on the screen.
  var visibleQueues: [QueueReport.ID] {
    let queues = shown.queues
    return self.queues.lines(of: queues, height: pageHeight).compactMap { index in
      index.map { queues[$0].id }
    }
  }

  /// The lines of operations that are on the screen, on the queue screen or below the table of queues.
  private var visibleQueueRows: ArraySlice<QueueOperationRows.Row> {
    guard let queue = summarizedQueue else { return [] }
    let list = QueueOperationRows(of: queue, in: shown)
    if let state = openQueueScreen {
      let height = queueListHeight
      return list.rows(height: height, on: state).dropFirst(state.top).prefix(height)
    }
    guard let rows = screen.layout.flatMap({ queueSummaryRows(in: $0) }) else { return [] }
    let height = QueueTableView.SummaryParts(rows).list.count
    return list.rows(height: height).prefix(height)
  }

  private var visibleQueueOperations: [OperationReport.ID] {
    visibleQueueRows.compactMap { if case .operation(let id, _) = $0 { id } else { nil } }
  }

  /// Whether the view of queues or the queue screen shows an age that changes with time.
  var queueScreenShowsAges: Bool {
    visibleQueueOperations.contains { live.operations.state(of: $0)?.isOver == false }
  }

  // MARK: Interest

  /// The number of further operations that are requested, so that the lines below the screen are known when the user
  /// scrolls.
  private static let furtherOperations = 50

  /// Adds the data for the view of queues and for the queue screen to the requested data.
  func addQueueInterest(to interest: inout Interest) {
    guard screen.view == .queues else { return }
    interest.queueTimes = true
    guard let queue = openQueueScreen?.queue ?? queues.id else { return }
    let limit = queueRequest.queue == queue ? queueRequest.limit : runOrderLimit
    interest.runOrder = .init(queues: [queue], limit: limit, includesOperations: true)
    guard queueRequest.queue == queue else { return }
    interest.operations.formUnion(queueRequest.operations)
    // The sentence about the next operation needs its details, whichever operation is selected.
    let isCovered = detail != nil || warningList != nil
    let other = isCovered ? interest.detail : openQueueScreen?.awaited
    interest.detail = other ?? queueRequest.next ?? interest.detail
    // The dependents of the selected operation are tagged or cancelled with it.
    if followsNextOperation, prompts.question == nil, let next = queueRequest.next {
      interest.subjects = [next]
    }
  }

  /// The number of operations to request in the run order of the shown queue. A limit that seldom changes avoids new
  /// requests while the user scrolls.
  private var runOrderLimit: Int {
    let step = Self.furtherOperations
    // The next operation is on the screen, however many operations execute.
    let index = followsNextOperation ? 0 : openQueueScreen?.index ?? 0
    let last = index + max(pageHeight, queueListHeight) + step
    return min((last + step - 1) / step * step, WireLimits.mostRunOrderOperations)
  }

  /// The minimum time between two requests for operations of the same queue.
  private static let requestInterval = Duration.seconds(1)

  /// Requests the operations on the screen, and the detail of the operation that starts next, once a second.
  ///
  /// A queue may start many operations in a second. A new request for each of them would make the monitor send an
  /// update at once, which would lead to the next request.
  mutating func settleQueueRequest() {
    guard var request = wantedQueueRequest else {
      queueRequest = QueueRequest()
      return
    }
    let isSame = queueRequest.queue == request.queue
    if isSame, let time = queueRequest.time, time <= now, now - time < Self.requestInterval {
      // If the user scrolls, more operations are requested at once.
      queueRequest.limit = max(queueRequest.limit, request.limit)
      return
    }
    // Before the first order has arrived, the next update may request operations at once.
    request.time = request.queue.flatMap { shown.runOrders[$0] } == nil ? nil : now
    queueRequest = request
  }

  /// The moment at which the dashboard requests the operations that are on the screen now; `nil` if it has requested
  /// them.
  var nextQueueRequest: MonitorTime? {
    guard let time = queueRequest.time, var request = wantedQueueRequest else { return nil }
    request.time = time
    return request == queueRequest ? nil : time + Self.requestInterval
  }

  /// The request for the operations that are on the screen now; `nil` if no queue is shown.
  private var wantedQueueRequest: QueueRequest? {
    guard screen.view == .queues, let queue = summarizedQueue else { return nil }
    return QueueRequest(
      queue: queue.id, limit: runOrderLimit, operations: Set(visibleQueueOperations),
      next: shown.runOrders[queue.id]?.ready.first)
  }
}

/// The operations that the dashboard requests for the view of queues.
struct QueueRequest: Sendable, Equatable {
  /// The queue of the operations; `nil` if none are requested.
  var queue: QueueReport.ID?
  /// The maximum number of executing operations, and of ready operations, in the run order.
  var limit = 0
  /// The operations on the screen.
  var operations: Set<OperationReport.ID> = []
  /// The operation that the queue starts next, whose detail is requested; `nil` if it is unknown.
  var next: OperationReport.ID?
  /// The time of the request; `nil` if the next update may change it at once.
  var time: MonitorTime?
}
