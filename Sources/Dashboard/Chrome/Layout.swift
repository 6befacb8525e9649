// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The positions of the parts of the dashboard on a screen of a given size.
///
/// If there is not enough room, parts are left out in a fixed order: the graph of finished operations, their
/// rate, the horizontal rules, the queues, the processes, the position in a recording, the status line, the footer.
struct Layout: Sendable, Equatable {
  /// The minimum size of a screen. On a smaller screen, the dashboard shows only that the screen is too
  /// small.
  static let minimum = Size(columns: 40, rows: 10)
  /// The minimum width of a screen that shows a pane for the selected operation.
  static let paneThreshold = 120
  /// The minimum height of a wide screen that shows a graph of finished operations.
  private static let graphThreshold = 32
  /// The minimum height of a screen on which the graph has six rows instead of four.
  private static let tallThreshold = 50
  /// The maximum number of deadlocks shown at the top.
  private static let mostBanners = 3
  /// The minimum number of rows for the list or the tree. Other parts of the screen are left out so that
  /// these rows have room.
  private static let fewestBodyRows = 5

  private let columnCount: Int

  let header = 0
  /// The rows for deadlocks, one for each deadlock; empty if there is no deadlock.
  private(set) var banners = 0..<0
  /// The row with the position in a recording.
  private(set) var replayBar: Int?
  private(set) var bar: Int?
  /// The headings and the rows of the processes, if several are watched together.
  private(set) var processes: Range<Int>?
  /// The row with the number of operations in each state, in all queues together. If the table of
  /// ``processes`` is shown, this row is the sum row of the table.
  private(set) var counts: Int?
  private(set) var rate: Int?
  private(set) var queues: Int?
  /// The horizontal rule above the graph.
  private(set) var graphRule: Int?
  /// The rows of the graph of finished operations. The queues are shown in the same rows, to the right of the
  /// graph, so they have no separate row.
  private(set) var graph: Range<Int>?
  /// The horizontal rule above the list or the tree, with the titles of the table and of the pane.
  private(set) var topRule: Int?
  /// The row with the headings of the columns.
  private(set) var headings = 0
  /// The rows of the list or the tree.
  private(set) var body = 0..<0
  /// The rows of the window with the whole name of the selected operation, including the horizontal rule
  /// above the name.
  private(set) var name: Range<Int>?
  private(set) var bottomRule: Int?
  private(set) var sentence = 0
  private(set) var status: Int?
  private(set) var footer: Int?
  /// The screen columns of the list or the tree.
  let table: Range<Int>
  /// The screen columns of the pane beside the list.
  let pane: Range<Int>?

  /// The maximum number of seconds for which the screen shows finished operations, as a graph or as bars;
  /// `nil` if the screen shows neither.
  var rateSeconds: Int? {
    if graph != nil { return ThroughputView.seconds(columns: columnCount) }
    return rate.map { _ in min(RateView.barLimit, columnCount) }
  }

  /// The screen columns for the text of the list or the tree. If a pane follows, one column before its border
  /// remains free.
  var rowText: Range<Int> { pane == nil ? table : table.dropLast() }

  /// The number of rows for the list or the tree.
  var bodyHeight: Int { body.count }

  /// Returns a copy whose headings are in a lower row. The rows of the list or the tree follow them. The rows above are
  /// free for other contents.
  func movingHeadings(to row: Int) -> Layout {
    var layout = self
    layout.headings = row
    layout.body = min(row + 1, body.upperBound)..<body.upperBound
    return layout
  }

  /// The row for questions and messages: the status line, or the footer if there is no status line, or
  /// otherwise the row of the sentence about the selected operation.
  var prompt: Int { status ?? footer ?? sentence }

  /// The values that a layout depends on.
  struct Request: Sendable, Equatable {
    var size: Size
    var showsMeters: Bool
    var wantsPane = true
    var wantsRules = true
    /// Whether the queues are shown above the view.
    var wantsQueues = true
    /// Whether the graph of finished operations is shown if there is room. The graph has the queues beside it.
    var wantsGraph = true
    /// Whether a row with the position in a recording is shown if there is room.
    var hasReplayBar = false
    /// The number of deadlocks. At most three deadlocks get a row.
    var bannerCount = 0
    /// The number of watched processes. If there are many, only some of the processes get a row.
    var processCount = 0
    /// The number of lines of the selected operation's whole name; 0 if the window with this name is closed.
    /// The window takes at most half of the rows of the list or the tree.
    var nameLineCount = 0
  }

  /// The parts that have room on a screen, the most important first.
  private struct Parts {
    let bannerCount: Int
    let hasMeters: Bool
    let hasFooter: Bool
    let hasStatus: Bool
    let hasReplayBar: Bool
    let processRows: Int
    let hasProcesses: Bool
    let hasQueues: Bool
    let hasRules: Bool
    let hasRate: Bool
    let graphHeight: Int
    let hasGraph: Bool

    init(_ request: Request, isWide: Bool) {
      let size = request.size
      // The header, the headings of the columns and the sentence about the selected operation are always
      // shown.
      var spare = size.rows - 3 - Layout.fewestBodyRows
      func take(if isWanted: Bool = true, rows: Int = 1) -> Bool {
        guard isWanted, spare >= rows else { return false }
        spare -= rows
        return true
      }
      // The rows for deadlocks are assigned first, because deadlocks are more important than counts.
      bannerCount = min(request.bannerCount, Layout.mostBanners, max(0, spare - 1))
      spare -= bannerCount
      hasMeters = take(if: request.showsMeters, rows: 2)
      hasFooter = take()
      hasStatus = take()
      hasReplayBar = take(if: request.hasReplayBar)
      processRows = min(request.processCount, size.rows / 4 - 2, spare - 1)
      let isTable = hasMeters && size.columns >= ProcessTableView.narrowest && processRows > 0
      hasProcesses = take(if: isTable, rows: processRows + 1)
      hasQueues = take(if: request.showsMeters && request.wantsQueues)
      hasRules = take(if: isWide && request.wantsRules, rows: 2)
      hasRate = take(if: request.showsMeters)
      // The graph and its rule replace the row of queues. Therefore the graph and its rule need only
      // `graphHeight` more rows.
      graphHeight = size.rows < Layout.tallThreshold ? 4 : 6
      hasGraph =
        hasRate && request.wantsGraph && size.rows >= Layout.graphThreshold
        && take(if: isWide, rows: graphHeight)
    }
  }

  /// Computes the layout of a screen; `nil` if the screen is too small.
  init?(_ request: Request) {
    let size = request.size
    guard size.columns >= Self.minimum.columns, size.rows >= Self.minimum.rows else { return nil }
    let isWide = size.columns >= Self.paneThreshold && size.rows >= 20
    let hasPane = isWide && request.wantsPane
    columnCount = size.columns
    let paneWidth = max(41, size.columns * 35 / 100)
    table = 0..<(hasPane ? size.columns - paneWidth - 1 : size.columns)
    pane = hasPane ? size.columns - paneWidth..<size.columns : nil

    let parts = Parts(request, isWide: isWide)
    var next = 1
    func place(_ isThere: Bool) -> Int? {
      guard isThere else { return nil }
      defer { next += 1 }
      return next
    }
    replayBar = place(parts.hasReplayBar)
    banners = next..<next + parts.bannerCount
    next = banners.upperBound
    bar = place(parts.hasMeters)
    if parts.hasProcesses {
      processes = next..<next + parts.processRows + 1
      next += parts.processRows + 1
    }
    counts = place(parts.hasMeters)
    rate = place(parts.hasRate)
    queues = place(parts.hasQueues && !parts.hasGraph)
    if parts.hasGraph {
      graphRule = place(true)
      graph = next..<next + parts.graphHeight
      next += parts.graphHeight
    }
    topRule = place(parts.hasRules)
    headings = next
    let bottom =
      size.rows - 1 - (parts.hasFooter ? 1 : 0) - (parts.hasStatus ? 1 : 0)
      - (parts.hasRules ? 1 : 0)
    body = headings + 1..<bottom
    if request.nameLineCount > 0 {
      let height = min(1 + request.nameLineCount, (body.count + 1) / 2)
      name = bottom - height..<bottom
      body = headings + 1..<bottom - height
    }
    next = bottom
    bottomRule = place(parts.hasRules)
    sentence = next
    next += 1
    status = place(parts.hasStatus)
    footer = place(parts.hasFooter)
  }
}
