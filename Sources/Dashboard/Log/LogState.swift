// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the log screen, which shows all stored log lines of one operation.
///
/// At first, the screen follows the newest lines, as `tail -f` does. After a key has moved the lines,
/// the first line on the screen stays the same until it is dropped. At the end of the lines, the
/// screen follows them again.
struct LogState: Sendable, Equatable {
  /// Whether the detail screen closes together with the log screen, because it was not open before.
  let closesDetail: Bool
  /// The first row on the screen; `nil` while the screen follows the newest lines.
  private(set) var top: LogRows.Place?
  /// The text to search for; `nil` if there is no search.
  private(set) var search: String?
  /// The number of the line with the selected match; `nil` if there is none.
  private(set) var match: UInt64?
  /// The state when the search prompt was opened; `nil` while it is closed.
  private var beforeSearch: Snapshot?

  private struct Snapshot: Sendable, Equatable {
    let top: LogRows.Place?
    let search: String?
    let match: UInt64?
    /// The first line on the screen, at which the search begins.
    let start: UInt64
  }

  /// Creates the state of a screen that follows the newest lines.
  init(closesDetail: Bool) { self.closesDetail = closesDetail }

  /// Whether the screen follows the newest lines.
  var follows: Bool { top == nil }

  /// Returns the indexes of the rows on a screen of this height.
  func visible(in rows: LogRows, height: Int) -> Range<Int> {
    let last = max(0, rows.rows.count - height)
    let first = top.map { min(last, rows.index(of: $0)) } ?? last
    return first..<min(rows.rows.count, first + height)
  }

  /// Moves the rows up by `offset` rows, or down if it is negative.
  mutating func move(by offset: Int, in rows: LogRows, height: Int) {
    let last = max(0, rows.rows.count - height)
    let first = max(0, visible(in: rows, height: height).lowerBound + offset)
    top = first >= last ? nil : rows.rows[first].place
  }

  // MARK: Search

  /// Notes the state before the user types a text.
  mutating func beginSearch(in rows: LogRows, height: Int) {
    let start = visible(in: rows, height: height).first.map { rows.rows[$0].place.line }
    beforeSearch = Snapshot(top: top, search: search, match: match, start: start ?? 0)
  }

  /// Selects the first match at or after the line that was the first one on the screen.
  mutating func searchAsTyped(_ text: String, in rows: LogRows, height: Int) {
    (search, match) = (text.isEmpty ? nil : text, nil)
    top = beforeSearch?.top
    let matches = rows.matches(of: text)
    let start = beforeSearch?.start ?? 0
    select(matches.first { $0 >= start } ?? matches.first, in: rows, height: height)
  }

  /// Ends the input of the text. If the user has cancelled it, restores the state before the search.
  mutating func endSearch(accepts: Bool) {
    if !accepts, let before = beforeSearch {
      (top, search, match) = (before.top, before.search, before.match)
    }
    beforeSearch = nil
  }

  /// Selects the next match, or the previous one if `step` is negative. The search continues at the
  /// other end. Returns `false` if there is no match.
  mutating func searchAgain(step: Int, in rows: LogRows, height: Int) -> Bool {
    let matches = rows.matches(of: search ?? "")
    guard !matches.isEmpty else { return false }
    let visible = visible(in: rows, height: height)
    let start = match ?? visible.first.map { rows.rows[$0].place.line } ?? 0
    let next =
      step > 0
      ? matches.first { match == nil ? $0 >= start : $0 > start } ?? matches.first
      : matches.last { $0 < start } ?? matches.last
    select(next, in: rows, height: height)
    return true
  }

  /// The number of the selected match and the number of matches.
  func searchWords(in rows: LogRows) -> (text: String, isFailure: Bool)? {
    guard let search else { return nil }
    let matches = rows.matches(of: search)
    guard !matches.isEmpty else { return ("no match", true) }
    guard let match, let index = matches.firstIndex(of: match) else {
      return (matches.count == 1 ? "1 match" : "\(matches.count) matches", false)
    }
    return ("\(index + 1) of \(matches.count)", false)
  }

  /// Selects a line and moves it into view. The screen then no longer follows the newest lines, so that
  /// the match stays in view.
  private mutating func select(_ line: UInt64?, in rows: LogRows, height: Int) {
    guard let line else { return }
    match = line
    let visible = visible(in: rows, height: height)
    let first = LogRows.Place(line: line, part: 0)
    let index = rows.index(of: first)
    let isVisible = visible.contains(index)
    top = isVisible ? rows.rows[visible.lowerBound].place : first
  }
}
