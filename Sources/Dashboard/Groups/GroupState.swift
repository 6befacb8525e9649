// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the list can be grouped.
  static let groups = false
  /// Whether the list has a column with the place in the order in which operations start.
  static let columns = false
}

/// The groups of operations that the list shows instead of operations.
struct GroupState: Sendable, Equatable {
  /// The value by which the operations are grouped.
  var by: OperationGroups.By

  /// The words for the next step of the key that changes the grouping. All have the same width.
  var nextWords: String {
    switch by {
    case .kind: "By queue"
    case .queue: "List    "
    }
  }
}

extension Dashboard {
  /// The groups on the screen; `nil` if the list is not grouped or another view is shown.
  var shownGroups: GroupState? { screen.view == .operations ? groups : nil }

  /// Performs an action of the groups.
  mutating func perform(_ key: KeyAction.Groups) -> [Effect] { [.bell] }

  /// Moves the selection of the groups by `offset` rows, at most to the first or the last row.
  mutating func moveInGroups(by offset: Int) {}

  /// Keeps the selection of the groups valid after the monitored state or the size has changed.
  mutating func settleGroups() {}

  /// Adds the groups to the requested data, if they are shown.
  func addGroupInterest(to interest: inout Interest) {}

  /// Adds the data for the columns of the list to the requested data.
  func addColumnInterest(to interest: inout Interest) {}

  /// Whether the screen shows a history of groups that changes with the next second.
  var groupHistoryMoves: Bool { false }
}

extension MonitoredState {
  /// Adds the counts of an update to the histories of the groups.
  mutating func noteGroupHistories(_ update: Update) {}

  /// Completes the seconds of the groups' histories that have ended at `time`.
  mutating func advanceGroupHistories(to time: MonitorTime) {}

  /// Removes the histories of the groups.
  mutating func forgetGroupHistories() {}
}

/// Draws the groups of the list.
struct GroupTableView {
  let dashboard: Dashboard
  let layout: Layout
  let state: GroupState

  func draw(on canvas: inout Canvas) {}
}
