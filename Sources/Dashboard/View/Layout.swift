// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Where things are on a screen of some size.
///
/// What has no room is left out in a fixed order: graph, rate, rules, queues, processes, status line,
/// footer.
struct Layout: Sendable, Equatable {
  /// Nothing can be shown on a smaller screen.
  static let minimum = Size(columns: 40, rows: 10)
  /// From this width on, the selected operation has a pane of its own.
  static let paneThreshold = 120
  /// From this height on, a wide screen has a graph of what was finished …
  private static let graphThreshold = 32
  /// … and from this one on a taller one.
  private static let tallThreshold = 50
  /// More deadlocks are not told at the top.
  private static let mostBanners = 3
  /// Rather than fewer rows of the body, something else is left out.
  private static let fewestBodyRows = 5

  private let columnCount: Int

  let header = 0
  /// One row for each deadlock, below the header; empty where there is none.
  private(set) var banners = 0..<0
  private(set) var bar: Int?
  /// The headings and the rows of the processes, where several are watched as one.
  private(set) var processes: Range<Int>?
  /// The counts of all queues together; with ``processes`` their sum.
  private(set) var counts: Int?
  private(set) var rate: Int?
  private(set) var queues: Int?
  /// The rule above the graph.
  private(set) var graphRule: Int?
  /// The rows of the graph, with the queues beside it, which then have no row of their own.
  private(set) var graph: Range<Int>?
  /// The rule above the body, with the titles of table and pane.
  private(set) var topRule: Int?
  /// The headings of the columns.
  private(set) var headings = 0
  /// The rows of the list or the tree.
  private(set) var body = 0..<0
  /// The rows of the window that holds a whole name, its rule included.
  private(set) var name: Range<Int>?
  private(set) var bottomRule: Int?
  private(set) var sentence = 0
  private(set) var status: Int?
  private(set) var footer: Int?
  /// The columns of the list or the tree.
  let table: Range<Int>
  /// The columns of the pane beside the list.
  let pane: Range<Int>?

  /// How many seconds are drawn of what was finished, at most; `nil` for none.
  var rateSeconds: Int? {
    if graph != nil { return ThroughputView.seconds(columns: columnCount) }
    return rate.map { _ in min(RateView.barLimit, columnCount) }
  }

  /// How many rows of the list or the tree there are.
  var bodyHeight: Int { body.count }
  /// The row for questions and messages: the status line or what there is instead.
  var prompt: Int { status ?? footer ?? sentence }

  /// Lays out a screen; `nil` where it is too small for anything.
  ///
  /// `bannerCount` is how many deadlocks there are to tell of, of which three are told, and
  /// `nameLineCount` how many lines a name takes that is shown as a whole: it gets half of the body at
  /// most. Of `processCount` processes as many have a row as a part of the screen allows.
  init?(
    size: Size, showsMeters: Bool, wantsPane: Bool = true, wantsRules: Bool = true,
    bannerCount: Int = 0, processCount: Int = 0, nameLineCount: Int = 0
  ) {
    guard size.columns >= Self.minimum.columns, size.rows >= Self.minimum.rows else { return nil }
    let isWide = size.columns >= Self.paneThreshold && size.rows >= 20
    let hasPane = isWide && wantsPane
    columnCount = size.columns
    let paneWidth = max(41, size.columns * 35 / 100)
    table = 0..<(hasPane ? size.columns - paneWidth - 1 : size.columns)
    pane = hasPane ? size.columns - paneWidth..<size.columns : nil

    // Header, headings and sentence are always there.
    var spare = size.rows - 3 - Self.fewestBodyRows
    func take(if isWanted: Bool = true, rows: Int = 1) -> Bool {
      guard isWanted, spare >= rows else { return false }
      spare -= rows
      return true
    }
    // What is stuck matters more than how much else there is.
    let bannerCount = min(bannerCount, Self.mostBanners, max(0, spare - 1))
    spare -= bannerCount
    let hasMeters = take(if: showsMeters, rows: 2)
    let hasFooter = take()
    let hasStatus = take()
    let processRows = min(processCount, size.rows / 4 - 2, spare - 1)
    let isTable = hasMeters && size.columns >= ProcessTableView.narrowest && processRows > 0
    let hasProcesses = take(if: isTable, rows: processRows + 1)
    let hasQueues = take(if: showsMeters)
    let hasRules = take(if: isWide && wantsRules, rows: 2)
    let hasRate = take(if: showsMeters)
    // In place of the row of queues, so that it takes as many rows as the area has.
    let graphHeight = size.rows < Self.tallThreshold ? 4 : 6
    let hasGraph =
      hasRate && size.rows >= Self.graphThreshold && take(if: isWide, rows: graphHeight)

    var next = 1 + bannerCount
    banners = 1..<next
    func place(_ isThere: Bool) -> Int? {
      guard isThere else { return nil }
      defer { next += 1 }
      return next
    }
    bar = place(hasMeters)
    if hasProcesses {
      processes = next..<next + processRows + 1
      next += processRows + 1
    }
    counts = place(hasMeters)
    rate = place(hasRate)
    queues = place(hasQueues && !hasGraph)
    if hasGraph {
      graphRule = place(true)
      graph = next..<next + graphHeight
      next += graphHeight
    }
    topRule = place(hasRules)
    headings = next
    let bottom = size.rows - 1 - (hasFooter ? 1 : 0) - (hasStatus ? 1 : 0) - (hasRules ? 1 : 0)
    body = headings + 1..<bottom
    if nameLineCount > 0 {
      let height = min(1 + nameLineCount, (body.count + 1) / 2)
      name = bottom - height..<bottom
      body = headings + 1..<bottom - height
    }
    next = bottom
    bottomRule = place(hasRules)
    sentence = next
    next += 1
    status = place(hasStatus)
    footer = place(hasFooter)
  }
}
