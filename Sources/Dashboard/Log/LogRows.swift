// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Lines as rows of a screen: the stored log lines of an operation, or lines of the output of a job. A long line takes
/// several rows.
struct LogRows {
  /// A row: a part of a line. It stays the same when other lines are added or dropped.
  struct Place: Sendable, Equatable, Comparable {
    /// The number of the log line, or the offset of the line in the file with the output.
    var line: UInt64
    /// The index of the row among the rows of the line; -1 for the row above the first line.
    var part: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.line, left.part) < (right.line, right.part)
    }
  }

  struct Row {
    let place: Place
    /// The time and the level of the line, in the first row of a log line.
    let head: [Span]
    let cells: [Cell]
  }

  /// The maximum number of rows of one log line.
  private static let longestLine = 50
  /// The minimum width of a screen that shows the milliseconds of times.
  private static let preciseThreshold = 64

  private(set) var rows: [Row] = []
  /// The number of columns for the time and the level.
  let headWidth: Int
  /// Whether the rows contain the last line.
  let reachesEnd: Bool
  private var lines: [(number: UInt64, text: String)] = []

  /// Creates the rows of a log for a screen of this width.
  init(_ log: OperationLog, of hello: Hello?, columns: Int, glyphs: Glyphs) {
    headWidth = Self.headWidth(columns: columns)
    reachesEnd = true
    if log.droppedCount > 0 {
      let text = CellText(
        Self.droppedWords(log), columns: columns, style: Style(.dim), isUnicode: glyphs.isUnicode)
      rows.append(Row(place: Place(line: log.first, part: -1), head: [], cells: text.cells))
    }
    for (index, line) in log.lines.enumerated() {
      let head = Self.head(of: line, hello, columns: columns, glyphs)
      let text = WrappedText(
        line.text, columns: columns - headWidth, lineLimit: Self.longestLine,
        style: Self.textStyle(of: line.level), isUnicode: glyphs.isUnicode)
      append(text, of: line.text, number: log.first + UInt64(index), head: head)
    }
  }

  /// Creates the rows of lines of the output of a job for a screen of this width. The time and the level of the lines
  /// are not known.
  init(_ page: OutputPage, columns: Int, glyphs: Glyphs) {
    headWidth = 0
    reachesEnd = page.reachesEnd
    for line in page.lines {
      // The page limits the length of a line, so the number of rows needs no limit.
      let text = WrappedText(
        line.text, columns: columns, lineLimit: line.text.utf8.count, isUnicode: glyphs.isUnicode)
      append(text, of: line.text, number: line.offset, head: [])
    }
  }

  private mutating func append(
    _ text: WrappedText, of line: String, number: UInt64, head: [Span]
  ) {
    lines.append((number, line))
    for (part, cells) in (text.lines.isEmpty ? [[]] : text.lines).enumerated() {
      let place = Place(line: number, part: part)
      rows.append(Row(place: place, head: part == 0 ? head : [], cells: cells))
    }
  }

  /// Returns the greatest index of the first row on a screen of this height. If there are lines after the rows, they
  /// follow on the screen when they have arrived.
  func lastTop(height: Int) -> Int { max(0, rows.count - (reachesEnd ? height : 1)) }

  /// Returns the index of a row or, if it was dropped, of the next row; the number of rows if there is
  /// none.
  func index(of place: Place) -> Int { rows.firstIndex { $0.place >= place } ?? rows.count }

  /// Returns the numbers of the lines that contain a text. ASCII letters match in upper and lower case.
  func matches(of text: String) -> [UInt64] {
    text.isEmpty ? [] : lines.filter { $0.text.containsIgnoringCase(text) }.map(\.number)
  }

  /// Returns the time, the level and the whole text of a line; `nil` if the rows do not contain the line.
  func text(ofLine number: UInt64) -> String? {
    guard let line = lines.first(where: { $0.number == number }) else { return nil }
    let head = rows.first { $0.place == Place(line: number, part: 0) }?.head ?? []
    let words = head.map(\.text).joined().split(separator: " ") + [line.text[...]]
    return words.joined(separator: "  ")
  }

  // MARK: The parts of a row

  /// Returns words about the lines that were dropped before the first line.
  static func droppedWords(_ log: OperationLog) -> String {
    log.droppedCount == 1
      ? "1 earlier line was dropped"
      : "\(CountText.text(log.droppedCount)) earlier lines were dropped"
  }

  /// The width of the time and the level.
  static func headWidth(columns: Int) -> Int { columns < preciseThreshold ? 18 : 22 }

  /// The time and the level of a line, with the space before the text.
  static func head(
    of line: LogLine, _ hello: Hello?, columns: Int, _ glyphs: Glyphs
  ) -> [Span] {
    let isPrecise = columns >= preciseThreshold
    let time = hello.map {
      isPrecise
        ? TimeText.preciseTimeOfDay(line.time, of: $0) : TimeText.timeOfDay(line.time, of: $0)
    }
    return [
      Span("\((time ?? glyphs.unknown).padded(to: isPrecise ? 12 : 8)) ", .dim),
      Span(line.level.rawValue.padded(to: 9), role(of: line.level)),
    ]
  }

  /// The style of a line's text. It does not show the level by color, because a row of a long line may
  /// not show the level in words.
  static func textStyle(of level: LogLine.Level) -> Style {
    switch level {
    case .trace, .debug: Style(.dim)
    case .info, .notice, .warning, .error, .critical: .plain
    }
  }

  /// The role of a line's level: warnings and errors have the roles of such states.
  private static func role(of level: LogLine.Level) -> Role {
    switch level {
    case .trace, .debug: .dim
    case .info, .notice: .text
    case .warning: .warning
    case .error, .critical: .failed
    }
  }
}
