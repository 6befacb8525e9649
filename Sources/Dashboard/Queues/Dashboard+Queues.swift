// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs a command for the selected queue, or opens its screen.
  mutating func perform(_ key: KeyAction.Queue) -> [Effect] {
    if key == .open { return openQueue() }
    guard !refuses(selectedQueue.map { [$0.id] } ?? []) else { return [.bell] }
    if detail == nil, warningList == nil, let state = openQueueScreen, selectedQueue == nil {
      show("queue \(state.name) no longer exists", isWarning: true)
      return [.bell]
    }
    guard let queue = selectedQueue else {
      let isOther = selectedWarning.map { $0.queue == nil } ?? false
      show(isOther ? "this warning is not about a queue" : "no queue is selected", isWarning: true)
      return [.bell]
    }
    switch key {
    case .toggleSuspended: return toggleSuspension(of: queue)
    case .widen: return changeWidth(of: queue, by: 1)
    case .narrow: return changeWidth(of: queue, by: -1)
    case .setRate: return openRatePrompt(for: queue)
    case .open: return []
    }
  }

  /// Suspends a queue. If the queue is suspended, resumes it. Unless the queue belongs to the bundled demo,
  /// asks the user first.
  private mutating func toggleSuspension(of queue: QueueReport) -> [Effect] {
    let isSuspended = !(queueRequests.suspensions[queue.id] ?? queue.isSuspended)
    if connection.source == .demo { return request(isSuspended, of: queue.id) }
    prompts.question = Question(.setSuspended(queue.id, isSuspended), about: [])
    return []
  }

  /// Requests that a queue is suspended or resumed.
  mutating func request(_ isSuspended: Bool, of id: QueueReport.ID) -> [Effect] {
    queueRequests.suspensions.note(isSuspended, of: id)
    return [.send(.setSuspended(id, isSuspended))]
  }

  /// Increases or decreases the width of a queue: the maximum number of its operations that may execute at
  /// the same time. The width remains at least one. Changes add up, also if the queue has not reported the
  /// last requested width yet.
  private mutating func changeWidth(of queue: QueueReport, by step: Int) -> [Effect] {
    // If the queue has the default width, the system determines its width. The new width is then computed
    // from the number of operations that execute now.
    let width =
      queueRequests.widths[queue.id] ?? queue.width ?? max(1, queue.counts.executing)
    let wanted = max(1, width + step)
    guard wanted != (queueRequests.widths[queue.id] ?? queue.width) else { return [.bell] }
    queueRequests.widths.note(wanted, of: queue.id)
    showRequestedWidth(of: queue)
    return [.send(.setWidth(queue.id, wanted))]
  }

  /// Shows the width that a queue has reported and the width that was last requested.
  private mutating func showRequestedWidth(of queue: QueueReport) {
    guard let wanted = queueRequests.widths[queue.id] else { return }
    let width = queue.width.map { CountText.text($0) } ?? "default"
    show("queue \(queue.name): width \(width) → \(CountText.text(wanted)) requested")
  }

  /// Shows the result of a command about a queue as a sentence. If more requests for the same value follow,
  /// shows the last requested width instead.
  mutating func announceQueue(_ result: CommandResult) {
    let isDone = result.outcomes.first == .requested
    switch result.command {
    case .setSuspended(let id, let isSuspended):
      queueRequests.suspensions.noteAnswer(
        of: id, reported: live.queue(id)?.isSuspended, isDone: isDone, at: now)
      announce(id, result, done: isSuspended ? " suspended" : " resumed")
    case .setWidth(let id, let width):
      let queue = live.queue(id)
      queueRequests.widths.noteAnswer(of: id, reported: queue?.width, isDone: isDone, at: now)
      if isDone, queueRequests.widths.isUnanswered(id), let queue {
        return showRequestedWidth(of: queue)
      }
      let words = width.map { " has width \(CountText.text($0))" } ?? " has the default width"
      announce(id, result, done: words)
    case .setStartLimit(let id, let limit):
      let reported = live.queue(id).map(\.startLimit)
      queueRequests.startLimits.noteAnswer(of: id, reported: reported, isDone: isDone, at: now)
      announce(id, result, done: ": \(Self.words(for: limit))")
    case .cancel, .cancelWithDependents, .changePriority, .retry, .setHeld: break
    }
  }

  private mutating func announce(
    _ id: QueueReport.ID, _ result: CommandResult, done: String
  ) {
    switch result.outcomes.first ?? .unknown {
    case .requested: show("queue \(live.queue(id)?.name ?? "")\(done)")
    case .alreadyFinished, .unknown, .notRetryable:
      show("the queue no longer exists", isWarning: true)
    case .denied: show("denied: the process is monitored read-only", isWarning: true)
    case .refused: show(result.refusals[0] ?? "refused", isWarning: true)
    case .lost:
      let name = live.queue(id)?.name ?? ""
      show("queue \(name): result unknown, \(lostWords)", isWarning: true)
    }
  }

  /// The queue that keys act on: the selected queue, the queue of the selected warning, or the queue of the
  /// selected operation.
  var selectedQueue: QueueReport? {
    // A warning about operations may continue with other operations. Their queue is not selected.
    if warningList != nil { return selectedWarning?.queue.flatMap { live.queue($0) } }
    if detail == nil {
      if screen.view == .queues { return queues.id.flatMap { live.queue($0) } }
      if screen.view == .timeline { return timeline.queue.flatMap { live.queue($0) } }
      if screen.view == .tree, let id = tree?.selectedQueue { return live.queue(id) }
    }
    guard let id = selectedOperation, let report = shown.operations[id] else { return nil }
    return live.queue(report.queue)
  }
}
