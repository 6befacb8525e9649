// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The positions of the parts of the dashboard on a screen of a given size.
///
/// Parts without room are left out in a fixed order: graph, rate, rules, queues, processes, status line,
/// footer.
struct Layout: Sendable, Equatable {
  /// The minimum size of a screen. A smaller screen shows nothing.
  static let minimum = Size(columns: 40, rows: 10)
  /// The minimum width of a screen that shows a pane for the selected operation.
  static let paneThreshold = 120
  /// The minimum height of a wide screen that shows a graph of finished operations.
  private static let graphThreshold = 32
  /// The minimum height of a screen with the taller graph.
  private static let tallThreshold = 50
  /// The maximum number of deadlocks shown at the top.
  private static let mostBanners = 3
  /// The minimum number of rows of the body. Other parts are left out first.
  private static let fewestBodyRows = 5

  private let columnCount: Int

  let header = 0
  /// The rows for deadlocks below the header, one for each deadlock; empty if there is no deadlock.
  private(set) var banners = 0..<0
  private(set) var bar: Int?
  /// The headings and the rows of the processes, if several are watched together.
  private(set) var processes: Range<Int>?
  /// The row with the counts of all queues. If ``processes`` are shown, it is the row with the sum of their
  /// counts.
  private(set) var counts: Int?
  private(set) var rate: Int?
  private(set) var queues: Int?
  /// The rule above the graph.
  private(set) var graphRule: Int?
  /// The rows of the graph, with the queues beside the graph. The queues then have no row of their own.
  private(set) var graph: Range<Int>?
  /// The rule above the body, with the titles of table and pane.
  private(set) var topRule: Int?
  /// The headings of the columns.
  private(set) var headings = 0
  /// The rows of the list or the tree.
  private(set) var body = 0..<0
  /// The rows of the window with a whole name, including its rule.
  private(set) var name: Range<Int>?
  private(set) var bottomRule: Int?
  private(set) var sentence = 0
  private(set) var status: Int?
  private(set) var footer: Int?
  /// The columns of the list or the tree.
  let table: Range<Int>
  /// The columns of the pane beside the list.
  let pane: Range<Int>?

  /// The maximum number of seconds of the finished operations' graph; `nil` if it is not drawn.
  var rateSeconds: Int? {
    if graph != nil { return ThroughputView.seconds(columns: columnCount) }
    return rate.map { _ in min(RateView.barLimit, columnCount) }
  }

  /// The number of rows for the list or the tree.
  var bodyHeight: Int { body.count }
  /// The row for questions and messages: the status line or, if the screen has none, another row.
  var prompt: Int { status ?? footer ?? sentence }

  /// The values that a layout depends on.
  struct Request: Sendable, Equatable {
    var size: Size
    var showsMeters: Bool
    var wantsPane = true
    var wantsRules = true
    /// The number of deadlocks. At most three of them get a row.
    var bannerCount = 0
    /// The number of processes. Only a part of the screen is available for their rows.
    var processCount = 0
    /// The number of lines of the whole name. It gets at most half of the body.
    var nameLineCount = 0
  }

  /// The parts that have room on a screen, the most important first.
  private struct Parts {
    let bannerCount: Int
    let hasMeters: Bool
    let hasFooter: Bool
    let hasStatus: Bool
    let processRows: Int
    let hasProcesses: Bool
    let hasQueues: Bool
    let hasRules: Bool
    let hasRate: Bool
    let graphHeight: Int
    let hasGraph: Bool

    init(_ request: Request, isWide: Bool) {
      let size = request.size
      // Header, headings and sentence are always shown.
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
      processRows = min(request.processCount, size.rows / 4 - 2, spare - 1)
      let isTable = hasMeters && size.columns >= ProcessTableView.narrowest && processRows > 0
      hasProcesses = take(if: isTable, rows: processRows + 1)
      hasQueues = take(if: request.showsMeters)
      hasRules = take(if: isWide && request.wantsRules, rows: 2)
      hasRate = take(if: request.showsMeters)
      // The graph replaces the row of queues, so that the number of rows above the list stays the same.
      graphHeight = size.rows < Layout.tallThreshold ? 4 : 6
      hasGraph =
        hasRate && size.rows >= Layout.graphThreshold && take(if: isWide, rows: graphHeight)
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
    var next = 1 + parts.bannerCount
    banners = 1..<next
    func place(_ isThere: Bool) -> Int? {
      guard isThere else { return nil }
      defer { next += 1 }
      return next
    }
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
