// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The parts of a frame that react to the mouse, as the views have noted them while they drew the frame.
struct DrawnRegions: Sendable, Equatable {
  /// Cells side by side with one target.
  struct Region: Sendable, Equatable {
    let target: ScreenRegions.Target
    let row: Int
    let columns: Range<Int>
  }

  /// The noted regions, in the order in which they were drawn.
  var targets: [Region] = []
  /// The screen row of the selected line; `nil` if the frame shows no selection.
  var cursor: Int?
}

/// The parts of the screen that react to the mouse.
///
/// The positions are those of a frame that is drawn for this purpose, so they are always those that the user sees.
struct ScreenRegions {
  /// What is at a cell of the screen.
  enum Target: Sendable, Equatable {
    /// A line of the list, of the view or of the overlay, counted from 0 for the topmost line on the screen. Blank rows
    /// between lines are not counted.
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

  /// The line of the selection, counted as in ``Target/row(_:)``; `nil` if the screen shows no selection.
  private(set) var selectedLine: Int?

  /// The text of the selected line, as the screen shows it; `nil` if the screen shows no selection.
  private(set) var selectedText: String?

  private let grid: Grid
  private let regions: [DrawnRegions.Region]
  /// The screen rows and columns of the lines.
  private let body: (rows: Range<Int>, columns: Range<Int>)
  private let replayBar: Int?
  /// Whether the view has noted its lines itself, because not each of its screen rows is a line.
  private let hasOwnLines: Bool

  /// Determines the parts of the screen that a dashboard shows.
  init(_ dashboard: Dashboard) {
    let screen = dashboard.screen
    let canvas = DashboardView(
      dashboard: dashboard, size: screen.size,
      capabilities: Capabilities(isUnicode: dashboard.configuration.isUnicode),
      layout: screen.layout, overlayLayout: screen.overlayLayout
    ).draw()
    grid = canvas.grid
    regions = canvas.regions.targets
    hasOwnLines = regions.contains { if case .row = $0.target { true } else { false } }
    let layout = screen.overlayLayout ?? screen.layout
    let isCovered = screen.helpTop != nil || dashboard.prompts.question != nil
    replayBar = isCovered || screen.overlayLayout != nil ? nil : layout?.replayBar
    if let layout, !isCovered {
      let rows =
        dashboard.picker != nil && dashboard.setup == nil
        ? PickerView.rows(in: layout, of: screen.size) : layout.body
      body = (rows, layout.table)
    } else {
      body = (0..<0, 0..<0)
    }
    guard let cursor = canvas.regions.cursor else { return }
    selectedLine = line(atRow: cursor)
    let text = cells(ofRow: cursor).dropFirst().plainText
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    selectedText = words.joined(separator: " ")
  }

  /// Returns what is at a cell of the screen; `nil` if the cell does not react to the mouse.
  func target(row: Int, column: Int) -> Target? {
    if let region = regions.last(where: { $0.row == row && $0.columns.contains(column) }) {
      return region.target
    }
    if row == replayBar, (0..<grid.size.columns).contains(column) { return .replayBar(column) }
    guard body.rows.contains(row) else { return nil }
    guard body.columns.contains(column) else { return column < grid.size.columns ? .body : nil }
    return line(atRow: row).map { .row($0) } ?? .body
  }

  /// Returns the line at a screen row; `nil` if the row has no line.
  func line(atRow row: Int) -> Int? {
    guard body.rows.contains(row) else { return nil }
    if hasOwnLines {
      for region in regions where region.row == row {
        if case .row(let line) = region.target { return line }
      }
      return nil
    }
    let isBlank = cells(ofRow: row).allSatisfy { $0.scalar == " " }
    return isBlank ? nil : row - body.rows.lowerBound
  }

  /// The cells of a screen row in the columns of the lines.
  private func cells(ofRow row: Int) -> ArraySlice<Cell> {
    grid.row(row).dropFirst(body.columns.lowerBound).prefix(body.columns.count)
  }
}
