// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The parts of the screen that react to the mouse.
struct ScreenRegions {
  /// What is at a cell of the screen.
  enum Target: Sendable, Equatable {
    /// A line of the list, of the view or of the overlay, counted from 0 for the topmost line on the screen.
    case row(Int)
    /// The heading of a column of the list.
    case heading(ColumnPlan.Column)
    /// A key in the footer.
    case footer(KeyAction)
    /// A run in the timeline.
    case run(OperationReport.ID)
    /// A cell of the bar with the position in a recording, counted from 0 for the leftmost cell.
    case replayBar(Int)
    /// Another cell of the view.
    case body
  }

  /// Determines the parts of the screen that a dashboard shows.
  init(_ dashboard: Dashboard) {}

  /// Returns what is at a cell of the screen; `nil` if the cell does not react to the mouse.
  func target(row: Int, column: Int) -> Target? { nil }
}

extension Dashboard {
  /// Processes an action of the mouse.
  mutating func reduce(_ input: MouseInput) -> [Effect] { [] }
}
