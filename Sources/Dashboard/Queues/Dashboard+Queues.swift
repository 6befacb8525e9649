// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs a command for the selected queue.
  mutating func perform(_ key: KeyAction.Queue) -> [Effect] {
    switch key {
    case .toggleSuspended: suspendQueue()
    case .widen: changeWidth(by: 1)
    case .narrow: changeWidth(by: -1)
    }
  }

  /// Suspends the selected queue or the selected operation's queue. If the queue is suspended, resumes it.
  mutating func suspendQueue() -> [Effect] {
    guard !refuses(selectedQueue.map { [$0.id] } ?? []) else { return [.bell] }
    guard let queue = selectedQueue else { return [.bell] }
    return [.send(.setSuspended(queue.id, !queue.isSuspended))]
  }

  /// Increases or decreases the width of the selected queue: the maximum number of its operations that may
  /// execute at the same time. The width remains at least one.
  mutating func changeWidth(by step: Int) -> [Effect] {
    guard !refuses(selectedQueue.map { [$0.id] } ?? []) else { return [.bell] }
    guard let queue = selectedQueue else { return [.bell] }
    // If the queue has the default width, the system determines its width. The new width is then computed
    // from the number of operations that execute now.
    let width = queue.width ?? max(1, queue.counts.executing)
    let wanted = max(1, width + step)
    guard wanted != queue.width else { return [.bell] }
    return [.send(.setWidth(queue.id, wanted))]
  }

  /// The queue that keys act on: the selected queue, or the queue of the selected operation.
  var selectedQueue: QueueReport? {
    if detail == nil {
      if screen.view == .queues { return queues.id.flatMap { live.queue($0) } }
      if screen.view == .timeline { return timeline.queue.flatMap { live.queue($0) } }
      if screen.view == .tree, let id = tree?.selectedQueue { return live.queue(id) }
    }
    guard let id = selectedOperation, let report = shown.operations[id] else { return nil }
    return live.queue(report.queue)
  }
}
