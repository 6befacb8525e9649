// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The positions of the columns in the table of operations, if the table has a given width.
struct ColumnPlan: Sendable, Equatable {
  /// A column of the table of operations.
  typealias Column = ColumnSetting.Column

  /// Whether the table has the column of cancel keys.
  enum KeyColumn: Sendable {
    case never, ifRoom, always
  }

  /// The facts on which the columns depend.
  struct Facts: Sendable, Equatable {
    /// The number of cells of the longest id.
    var idWidth: Int
    /// The number of cells for the name of a process; 0 if the table has no column of processes.
    var processWidth = 0
    /// The number of cells of the longest name of a queue.
    var queueWidth: Int
    /// The number of cells of the longest kind.
    var kindWidth = 14
    /// Whether the table has the column of cancel keys.
    var keys = KeyColumn.ifRoom
    /// Whether the table has the column of priorities.
    var hasPriorities = true
    /// Whether the list is sorted by the position in the run order, so that the table shows this position.
    var isSortedByPosition = false
    /// Whether any operation has a quality of service.
    var hasQualities = false
    /// Whether any operation has a progress.
    var hasProgress = false
    /// Whether any operation has an error.
    var hasErrors = false
    /// Whether the name of any operation, or the remarks about it, may need more than ``wideTitle`` cells.
    var hasLongNames = true
  }

  /// The visible columns and their positions.
  let ranges: [Column: Range<Int>]
  /// Whether the column of errors shows the progress of unfinished operations, which have no error.
  let sharesErrors: Bool

  /// The minimum number of cells for the operation's name. Other columns are left out until the name has this
  /// width.
  static let narrowestTitle = 16

  /// The minimum number of cells for the operation's name if the column of dependents is shown.
  private static let roomyTitle = 22

  /// The minimum width of a table to which the dashboard adds columns, and the minimum number of cells for the
  /// operation's name if it does.
  fileprivate static let (wideTable, wideTitle) = (120, 22)

  /// The minimum number of cells of the column of errors, and the number that the column gets before a long name gets
  /// more.
  private static let (narrowestError, roomyError) = (15, 48)

  /// The columns that every table has if there is room, in the order of the table.
  private static let usual: Set<Column> = [
    .key, .id, .process, .state, .queue, .priority, .dependencies, .time, .dependents, .name,
  ]

  /// Computes the positions of the columns.
  ///
  /// If the user has chosen no columns and there is not enough room, columns are left out in this order: dependents,
  /// priority, dependencies, position, process, queue, key. A wide table has further columns, if the name keeps a
  /// good width: kind, position, one column for progress and error, quality of service. If the user has chosen
  /// columns, they are left out from the right, but the name stays.
  ///
  /// - Parameters:
  ///   - columns: The columns of the screen that the table has.
  ///   - facts: The facts on which the columns depend.
  ///   - chosen: The columns that the user has chosen; `nil` if the user has chosen none.
  init(within columns: Range<Int>, _ facts: Facts, _ chosen: [ColumnSetting]? = nil) {
    var widths = Self.widths(facts)
    sharesErrors = chosen == nil && facts.hasProgress
    guard let chosen else {
      let present = Self.automatic(columns.count, facts, widths)
      ranges = Self.ranges(of: present, widths, facts.hasLongNames, in: columns)
      return
    }
    let settings = Self.complete(chosen, facts)
    // The heading `KEY` is wider than the keys. Any column may follow it.
    widths[.key] = CancelKeyColumn.width + 1
    for setting in settings where setting.column != .key {
      if let width = setting.width { widths[setting.column] = width }
    }
    let present = Self.fitting(settings.map(\.column), widths, in: columns.count)
    ranges = Self.ranges(of: present, widths, true, in: columns)
  }

  /// Returns the position of a column; `nil` if the column is not visible.
  subscript(column: Column) -> Range<Int>? { ranges[column] }

  /// Returns whether a table that is not sorted by position may have the column of positions.
  static func mayHavePositions(_ layout: Layout, _ settings: DashboardSettings) -> Bool {
    settings.columns?.contains { $0.column == .position } ?? (layout.table.count >= wideTable)
  }

  // MARK: Widths

  /// Returns the numbers of cells of the columns. The name and the error have no fixed number: they get the room that
  /// is left.
  private static func widths(_ facts: Facts) -> [Column: Int] {
    [
      .key: CancelKeyColumn.width, .id: max(5, min(facts.idWidth, 21)),
      .process: facts.processWidth, .state: 10, .queue: max(6, facts.queueWidth),
      .priority: 5, .quality: 5, .position: PositionText.width, .dependencies: 6, .time: 6,
      .dependents: 5, .kind: max(4, min(facts.kindWidth, ColumnContents.widestKind)), .progress: 15,
    ]
  }

  /// Returns the number of spaces before a column that follows another column.
  private static func gap(before column: Column) -> Int {
    switch column {
    // The column before is often a number at the right end of its column.
    case .name, .kind, .error: 2
    case .key, .id, .process, .state, .queue, .priority, .quality, .position, .dependencies, .time,
      .dependents, .progress:
      1
    }
  }

  /// Returns the number of cells that columns leave for the columns without a width, which are the name and the error,
  /// in a table of this width.
  private static func rest(
    beside columns: [Column], _ widths: [Column: Int], in width: Int
  ) -> Int {
    columns.reduce(width - start(of: columns)) { rest, column in
      rest - gap(before: column) - (widths[column] ?? 0)
    }
  }

  /// Returns the number of cells before the gap of the first column. The mark of the selected row and one space are
  /// before this column.
  private static func start(of columns: [Column]) -> Int {
    columns.first.map { 2 - gap(before: $0) } ?? 2
  }

  // MARK: Choice

  /// Returns the columns that the dashboard chooses for a table of this width, in the order of the table.
  private static func automatic(
    _ width: Int, _ facts: Facts, _ widths: [Column: Int]
  ) -> [Column] {
    var present = usual
    if facts.processWidth == 0 { present.remove(.process) }
    if !facts.hasPriorities { present.remove(.priority) }
    if facts.keys == .never { present.remove(.key) }
    if facts.isSortedByPosition { present.insert(.position) }
    func inOrder() -> [Column] { Column.allCases.filter(present.contains) }
    func titleWidth() -> Int { rest(beside: inOrder(), widths, in: width) }
    if titleWidth() < roomyTitle { present.remove(.dependents) }
    for column in [Column.priority, .dependencies, .position, .process, .queue, .key] {
      guard titleWidth() < narrowestTitle, column != .key || facts.keys == .ifRoom else { break }
      present.remove(column)
    }
    if width >= wideTable {
      var further: [Column] = [.kind, .position]
      if facts.hasErrors || facts.hasProgress { further.append(.error) }
      if facts.hasQualities { further.append(.quality) }
      for column in further where !present.contains(column) {
        present.insert(column)
        let error = present.contains(.error) ? narrowestError : 0
        if titleWidth() - error < wideTitle { present.remove(column) }
      }
    }
    return inOrder()
  }

  /// Returns the columns that the user has chosen, each once, without columns that have no contents. While the cancel
  /// keys are active, their column is added.
  private static func complete(_ chosen: [ColumnSetting], _ facts: Facts) -> [ColumnSetting] {
    var seen: Set<Column> = []
    var columns = chosen.filter { setting in
      guard seen.insert(setting.column).inserted else { return false }
      switch setting.column {
      case .process: return facts.processWidth > 0
      case .key: return facts.keys != .never
      case .id, .state, .queue, .priority, .quality, .position, .dependencies, .time, .dependents,
        .kind, .progress, .name, .error:
        return true
      }
    }
    if facts.keys == .always, !seen.contains(.key) { columns.insert(ColumnSetting(.key), at: 0) }
    return columns
  }

  /// Returns the columns that fit. If there is not enough room, columns are left out from the right. The name and the
  /// active cancel keys stay.
  private static func fitting(
    _ columns: [Column], _ widths: [Column: Int], in width: Int
  ) -> [Column] {
    var widths = widths
    widths[.name] = min(widths[.name] ?? narrowestTitle, narrowestTitle)
    widths[.error] = widths[.error] ?? narrowestError
    var present = columns
    while rest(beside: present, widths, in: width) < 0,
      let last = present.lastIndex(where: { $0 != .name && $0 != .key })
    {
      present.remove(at: last)
    }
    return present
  }

  // MARK: Positions

  private static func ranges(
    of present: [Column], _ widths: [Column: Int], _ hasLongNames: Bool, in columns: Range<Int>
  ) -> [Column: Range<Int>] {
    let widths = stretched(widths, present, hasLongNames, in: columns.count)
    var ranges: [Column: Range<Int>] = [:]
    var next = columns.lowerBound + start(of: present)
    for column in present {
      let start = min(next + gap(before: column), columns.upperBound)
      next = min(start + (widths[column] ?? 0), columns.upperBound)
      ranges[column] = start..<next
    }
    // If no column gets the room that is left, the last column gets it if it is a text.
    if let last = present.last, [.name, .error, .kind].contains(last), let range = ranges[last] {
      ranges[last] = range.lowerBound..<columns.upperBound
    }
    return ranges
  }

  /// Returns the numbers of cells of all columns. The name and the error get the room that is left. If any name is long,
  /// they get about equal parts until the error has enough. Otherwise the name gets ``wideTitle`` cells, and the error
  /// gets the others.
  private static func stretched(
    _ widths: [Column: Int], _ present: [Column], _ hasLongNames: Bool, in width: Int
  ) -> [Column: Int] {
    var widths = widths
    let wanted = widths.removeValue(forKey: .name)
    let room = max(0, rest(beside: present, widths, in: width))
    let hasName = present.contains(.name)
    guard present.contains(.error), widths[.error] == nil else {
      widths[.name] = min(wanted ?? room, room)
      return widths
    }
    let beside = room - wideTitle
    let wantedError = hasLongNames ? min(room / 2, beside, roomyError) : beside
    let error = max(min(room - narrowestTitle, narrowestError), wantedError, 0)
    let name = hasName ? min(wanted ?? room, room - error) : 0
    (widths[.name], widths[.error]) = (name, room - name)
    return widths
  }
}

/// What the columns of the list have shown. A wide table has a column for the quality of service, the progress or the
/// error after an operation had one. The column stays, so that the other columns do not move again.
///
/// The values of each changed operation are read once. Therefore the cost does not depend on the number of known
/// operations.
struct ColumnContents: Sendable, Equatable {
  /// Whether the quality of service of any operation was set.
  private(set) var hasQualities = false
  /// Whether any operation had a progress.
  private(set) var hasProgress = false
  /// Whether any operation had an error, or a reason for its cancellation.
  private(set) var hasErrors = false
  /// Whether any operation had a long name, or remarks after its name. A name does not have more cells than bytes.
  private(set) var hasLongNames = false
  /// The number of bytes of the longest kind, at most ``widestKind``. A kind does not have more cells than bytes.
  private(set) var kindWidth = 0

  /// The maximum number of cells of a kind.
  static let widestKind = 18

  /// Reads the values of operations that have changed.
  mutating func note(_ changed: some Sequence<OperationReport>) {
    for report in changed {
      if kindWidth < Self.widestKind {
        kindWidth = max(kindWidth, min(report.kind.utf8.count, Self.widestKind))
      }
      if !hasProgress { hasProgress = report.progress != nil || report.memberQueue != nil }
      if !hasErrors { hasErrors = report.errorText != nil || report.cancellationCause != nil }
      if !hasQualities { hasQualities = report.qualityOfService != .default }
      if !hasLongNames { hasLongNames = Self.needsWideTitle(report) }
      if hasQualities, hasProgress, hasErrors, hasLongNames, kindWidth == Self.widestKind { return }
    }
  }

  /// Returns whether the name of an operation is long, or has remarks after it.
  private static func needsWideTitle(_ report: OperationReport) -> Bool {
    // An operation without a name shows its kind in brackets.
    let length = report.name.isEmpty ? report.kind.utf8.count + 2 : report.name.utf8.count
    return length > ColumnPlan.wideTitle || report.statusText != nil || report.delayEnd != nil
      || report.attempts.map { $0.maximum > 1 } == true
  }
}
