// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the screen of one queue exists, and the view of queues shows starts and use.
  static let queueScreen = false
}

/// The screen of one queue: its operations in the order in which they run.
struct QueueScreenState: Sendable, Equatable {
  /// The queue that the screen shows. The queue may no longer exist.
  var queue: QueueReport.ID
  /// The selected operation; `nil` if no operation is selected.
  var selected: OperationReport.ID?
}

extension Dashboard {
  /// The screen of one queue; `nil` if it is closed or another view is shown.
  var openQueueScreen: QueueScreenState? { screen.view == .queues ? queueScreen : nil }

  /// Opens the screen of the selected queue.
  mutating func openQueue() -> [Effect] { [.bell] }

  /// Performs an action of the queue screen.
  mutating func perform(_ key: KeyAction.QueueScreen) -> [Effect] { [.bell] }

  /// Moves the selection of the queue screen by `offset` operations, at most to the first or the last one.
  mutating func moveInQueueScreen(by offset: Int) {}

  /// Keeps the selection of the queue screen valid after the monitored state or the size has changed.
  mutating func settleQueueScreen() {}

  /// Adds the data for the view of queues and for the queue screen to the requested data.
  func addQueueInterest(to interest: inout Interest) {}

  /// Whether the queue screen shows an age that changes with time.
  var queueScreenShowsAges: Bool { false }
}

/// Draws the screen of one queue.
struct QueueScreenView {
  let dashboard: Dashboard
  let layout: Layout
  let state: QueueScreenState

  func draw(on canvas: inout Canvas) {}
}
