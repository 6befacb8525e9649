// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The positions of the columns in the table of queues, if the table has a given width.
struct QueueColumnPlan: Sendable, Equatable {
  /// A column of the table of queues, in the order of the table.
  enum Column: Sendable, CaseIterable {
    case process, name, slots, executing, ready, held, waiting, finished, failed, cancelled
    case rate, starts, use, waitMedian, waitMost, runMedian, runMost
  }

  /// The visible columns and their positions. There is a space before each column except for the first one.
  private let ranges: [Column: Range<Int>]

  /// The minimum width of a table with slots, starts and times. A narrower table has only counts.
  private static let wideThreshold = 68
  /// The minimum width of a table with run times.
  private static let runThreshold = 148
  /// The minimum width of the column of names in a table with slots.
  private static let shortName = 16
  /// The minimum width of the column of names in a table without slots. The word "SUSPENDED" needs room beside the
  /// name.
  private static let nameAndWord = 16
  /// The maximum width of the column of names that other columns do not need.
  private static let longestName = 32

  /// The columns of a wide table, the most important first, and their widths with the space before the column.
  private static let wide: [(Column, Int)] = [
    (.slots, 11), (.ready, 6), (.failed, 5), (.rate, 6), (.starts, 9), (.waitMedian, 7),
    (.waitMost, 7), (.cancelled, 5), (.use, 5), (.waiting, 6), (.finished, 6), (.held, 5),
    (.runMedian, 7), (.runMost, 7),
  ]

  /// The columns of a narrow table, the most important first, and their widths.
  private static let narrow: [(Column, Int)] = [
    (.executing, 5), (.ready, 6), (.held, 5), (.waiting, 5), (.failed, 5), (.finished, 5),
    (.cancelled, 5),
  ]

  /// The columns that get more room on a wide screen, and the room that they get, in this order.
  private static let growth: [(columns: [Column], cells: Int)] = [
    ([.ready, .held, .waiting, .finished, .failed, .cancelled, .rate], 1), ([.slots], 4),
    ([.finished], 1),
  ]
  /// The maximum widths to which columns grow after that, with the space before the column, in this order.
  private static let widest: [(Column, Int)] = [
    (.starts, 21), (.finished, 10), (.waiting, 9), (.name, longestName),
    (.starts, QueueHistory.capacity + 1), (.slots, 24),
  ]

  /// Computes the positions of the columns. If there is not enough room, columns are left out, the least important
  /// first.
  ///
  /// - Parameters:
  ///   - columns: The columns of the screen that the table has.
  ///   - processWidth: The number of cells for the name of a process; 0 if the table has no column of processes.
  ///   - nameWidth: The number of cells of the longest name.
  init(within columns: Range<Int>, processWidth: Int, nameWidth: Int) {
    // The margin consists of the mark of the selected row and a space.
    let room = max(0, columns.count - 2 - (processWidth == 0 ? 0 : processWidth + 1))
    let isWide = room >= Self.wideThreshold
    let name = isWide ? Self.shortName : Self.nameAndWord
    var widths: [Column: Int] = [:]
    var spare = room - name
    for (column, width) in isWide ? Self.wide : Self.narrow {
      let isRunTime = column == .runMedian || column == .runMost
      guard width <= spare, !isRunTime || room >= Self.runThreshold else { break }
      widths[column] = width
      spare -= width
    }
    if isWide {
      for (group, cells) in Self.growth {
        let present = group.filter { widths[$0] != nil }
        guard spare >= cells * present.count else { continue }
        for column in present { widths[column, default: 0] += cells }
        spare -= cells * present.count
      }
      widths[.name] = name
      for (column, width) in Self.widest {
        guard let old = widths[column] else { continue }
        let wanted = column == .name ? min(width, nameWidth) : width
        let more = max(0, min(spare, wanted - old))
        widths[column] = old + more
        spare -= more
      }
    }
    widths[.name, default: name] += max(0, spare)
    var next = columns.lowerBound + 2
    var ranges: [Column: Range<Int>] = [:]
    if processWidth > 0 {
      ranges[.process] = next..<next + processWidth
      next += processWidth + 1
    }
    for column in Column.allCases {
      guard let width = widths[column] else { continue }
      // In a narrow table, there is also a space after the name.
      let end = next + width - (column == .name && !isWide ? 1 : 0)
      ranges[column] = next + (column == .name ? 0 : 1)..<end
      next += width
    }
    self.ranges = ranges
  }

  /// Returns the position of a column; `nil` if the column is not visible.
  subscript(column: Column) -> Range<Int>? { ranges[column] }
}

extension QueueColumnPlan.Column {
  /// The heading of the column.
  var title: String {
    switch self {
    case .process: ""
    case .name: "QUEUE"
    case .slots: "SLOTS"
    case .executing: "EXEC"
    case .ready: "READY"
    case .held: "HELD"
    case .waiting: "WAIT"
    case .finished: "FIN"
    case .failed: "FAIL"
    case .cancelled: "CANC"
    case .rate: "RATE"
    case .starts: "STARTS"
    case .use: "USE"
    case .waitMedian: "SLOT50"
    case .waitMost: "SLOT99"
    case .runMedian: "RUN50"
    case .runMost: "RUN99"
    }
  }

  /// Whether the text of the column begins at its left end.
  var isLeftAligned: Bool { self == .process || self == .name || self == .slots }
}

extension QueueColumnPlan {
  /// Computes the positions of the columns on the screen of a dashboard with this number of columns.
  init(of dashboard: Dashboard, columns: Int, glyphs: Glyphs = Glyphs(isUnicode: true)) {
    let shown = dashboard.shown
    let process = ProcessColumn(shown.processes, glyphs: glyphs, limit: columns >= 100 ? 20 : 9)
    let names = shown.queues.prefix(64).map { glyphs.width(of: $0.name, limit: Self.longestName) }
    self.init(within: 0..<columns, processWidth: process.width, nameWidth: names.max() ?? 0)
  }
}
