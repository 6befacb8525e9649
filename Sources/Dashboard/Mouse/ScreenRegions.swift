// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The parts of a frame that react to the mouse. The views note them while they draw the frame.
///
/// A part names what it shows, such as an operation, and never only a place. Therefore a click concerns what the user
/// has seen, also if an update has moved the rows since then.
struct ScreenRegions: Sendable, Equatable {
  /// What a line of a list, of a view or of an overlay shows.
  enum Line: Sendable, Equatable {
    case operation(OperationReport.ID)
    case treeRow(DependencyTree.RowID)
    case queue(QueueReport.ID)
    case group(OperationGroups.Key)
    /// A line of the log of events, with its line number.
    case event(Int)
    case timelineRow(TimelineState.RowID)
    case warning(WarningIdentity)
    case process(Source)
    case setting(DashboardSettings.Key)
    /// A column of the chooser; `nil` for the row of the automatic choice.
    case column(ColumnSetting.Column?)
    /// The line that stands for the selected row after this row has disappeared.
    case ghost
  }

  /// What is at a cell of the screen.
  enum Target: Sendable, Equatable {
    /// A line that can be selected.
    case line(Line)
    /// The heading of a column of the list.
    case heading(ColumnPlan.Column)
    /// The heading of a column of the groups; `nil` if the groups cannot be sorted by the column.
    case groupHeading(GroupOrder.Column?)
    /// A key in the footer, or an answer of a question.
    case footer(KeyAction)
    /// A run in the timeline.
    case run(OperationReport.ID)
    /// The bar with the position in a recording.
    case replayBar
  }

  /// Cells side by side with one target.
  struct Region: Sendable, Equatable {
    let target: Target
    let row: Int
    let columns: Range<Int>
  }

  /// The part of the screen that receives key presses.
  var context = KeyContext.list
  /// The noted parts, in the order in which they were drawn.
  private(set) var regions: [Region] = []
  /// The screen row of the selected line; `nil` if the frame shows no selection.
  var cursor: Int?
  /// The selected row of the setup, or the selected run of the timeline; `nil` if there is none.
  var selected: Target?

  /// Creates the parts of a frame on which nothing was drawn yet.
  init() {}

  /// Determines the parts of the screen that a dashboard shows.
  init(_ dashboard: Dashboard) {
    let capabilities = Capabilities(isUnicode: dashboard.configuration.isUnicode)
    self = dashboard.frame(size: dashboard.screen.size, capabilities: capabilities).regions
  }

  /// Notes that part of a row reacts to the mouse.
  mutating func add(_ target: Target, row: Int, columns: Range<Int>) {
    regions.append(Region(target: target, row: row, columns: columns))
  }

  /// Forgets the parts of rows whose contents were replaced or do not react.
  mutating func remove(rows: Range<Int>) { regions.removeAll { rows.contains($0.row) } }

  /// Returns what is at a cell of the screen; `nil` if the cell does not react to the mouse.
  func target(row: Int, column: Int) -> Target? {
    let region = regions.last { $0.row == row && $0.columns.contains(column) }
    guard let target = region?.target else { return nil }
    // While a question or the help is open, only the footer and the answers react.
    if context == .question || context == .help, !target.isFooter { return nil }
    return target
  }

  /// Returns how far a line is below the selected line, in lines that can be selected; `nil` if the frame does not show
  /// both lines. If several lines show the same, the one in the row `row` is preferred.
  func offset(to line: Line, row: Int) -> Int? {
    let lines = regions.filter { if case .line = $0.target { true } else { false } }
      .sorted { $0.row < $1.row }
    let same = lines.indices.filter { lines[$0].target == .line(line) }
    guard let selected = lines.firstIndex(where: { $0.row == cursor }),
      let index = same.first(where: { lines[$0].row == row }) ?? same.first
    else { return nil }
    return index - selected
  }
}

extension ScreenRegions.Target {
  fileprivate var isFooter: Bool { if case .footer = self { true } else { false } }
}

/// A frame of the dashboard: its cells, and the parts that react to the mouse.
public struct DashboardFrame: Sendable {
  /// The cells of the frame.
  public let grid: Grid
  let regions: ScreenRegions
}
