// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the log screen, which shows all stored log lines of one operation, or the output of a job.
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
  /// The line with the selected match; `nil` if there is none.
  private(set) var match: UInt64?
  /// What is known about the output of the job; `nil` if the screen cannot show it.
  var output: OutputState?
  /// The state when the search prompt was opened; `nil` while it is closed.
  private var beforeSearch: Snapshot?

  private struct Snapshot: Sendable, Equatable {
    let top: LogRows.Place?
    let search: String?
    let match: UInt64?
    /// The first line on the screen, at which the search begins.
    let start: UInt64
    /// The result of the last search in the output of a job.
    var found = OutputState.Found()
  }

  /// Creates the state of a screen that follows the newest lines.
  init(closesDetail: Bool, output: OutputState? = nil) {
    self.closesDetail = closesDetail
    self.output = output
  }

  /// Whether the screen follows the newest lines.
  var follows: Bool { top == nil }

  /// Returns the indexes of the rows on a screen of this height.
  func visible(in rows: LogRows, height: Int) -> Range<Int> {
    let last = rows.lastTop(height: height)
    let end = max(0, rows.rows.count - height)
    let first = top.map { min(last, rows.index(of: $0)) } ?? end
    return first..<min(rows.rows.count, first + height)
  }

  /// Moves the rows up by `offset` rows, or down if it is negative.
  mutating func move(by offset: Int, in rows: LogRows, height: Int) {
    let last = rows.lastTop(height: height)
    let first = max(0, visible(in: rows, height: height).lowerBound + offset)
    let isEnd = rows.rows.isEmpty || rows.reachesEnd && first >= last
    top = isEnd ? nil : rows.rows[min(first, last)].place
  }

  /// Shows the last lines, and follows the newest ones.
  mutating func follow() { top = nil }

  /// Shows the output from its first line. If all of it fits on the screen, follows the newest lines.
  mutating func moveToStartOfOutput(in rows: LogRows, height: Int) {
    let isWhole = output?.shownPage?.reachesStart == true && rows.reachesEnd
    top = isWhole && rows.rows.count <= height ? nil : LogRows.Place(line: 0, part: 0)
  }

  // MARK: Search

  /// Notes the state before the user types a text.
  mutating func beginSearch(in rows: LogRows, height: Int) {
    let start = visible(in: rows, height: height).first.map { rows.rows[$0].place.line }
    beforeSearch = Snapshot(
      top: top, search: search, match: match, start: start ?? 0, found: output?.found ?? .init())
  }

  /// Notes the typed text, and shows the lines from before the search.
  ///
  /// - Returns: The line that was the first one on the screen, at which the search begins.
  mutating func type(_ text: String) -> UInt64 {
    (search, match) = (text.isEmpty ? nil : text, nil)
    output?.forgetSearch()
    top = beforeSearch?.top
    return beforeSearch?.start ?? 0
  }

  /// Selects the first match at or after the line that was the first one on the screen.
  mutating func searchAsTyped(_ text: String, in rows: LogRows, height: Int) {
    let start = type(text)
    let matches = rows.matches(of: text)
    select(matches.first { $0 >= start } ?? matches.first, in: rows, height: height)
  }

  /// Ends the input of the text. If the user has cancelled it, restores the state before the search.
  mutating func endSearch(accepts: Bool) {
    if !accepts, let before = beforeSearch {
      (top, search, match) = (before.top, before.search, before.match)
      output?.found = before.found
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

  // MARK: The output of a job

  /// Takes lines of the output. Lines of another job, or of an attempt that the user has not chosen, are ignored.
  mutating func take(_ page: OutputPage) {
    guard var new = output, new.name == page.request.name,
      new.attempt == nil || new.attempt == page.facts.attempt
    else { return }
    let old = output?.shownPage
    new.page = page
    let isOther = new.shownPage.map { $0.facts.attempt } != old.map { $0.facts.attempt }
    output = new
    // The lines on the screen have been replaced by others, or the file has become shorter.
    if isOther { startOver() }
    if let top, new.shownPage != nil, top.line > 0, top.line >= page.facts.size { follow() }
    if let match, new.shownPage != nil, match >= page.facts.size { self.match = nil }
  }

  /// Takes the answer to a search. An answer to an earlier search is ignored.
  ///
  /// - Returns: Whether the answer was used.
  mutating func take(
    _ result: OutputSearchResult, height: Int, rows: (OutputPage) -> LogRows
  ) -> Bool {
    guard let output, output.name == result.search.name, search == result.search.text,
      output.shownPage?.facts.attempt == result.search.attempt
    else { return false }
    self.output?.forgetSearch()
    switch result.outcome {
    case .found(let line, let page):
      take(page)
      guard self.output?.shownPage == page else { return false }
      select(line, in: rows(page), height: height)
      self.output?.found.matchEnd = page.end(ofLine: line)
    case .notFound:
      match = nil
      self.output?.found.hasNoMatch = true
    case .limitReached(let offset):
      match = nil
      self.output?.found.unfinished = result.search
      self.output?.found.unfinished?.start = offset
      self.output?.found.unfinished?.readCount += OutputSearch.byteLimit
    }
    return true
  }

  /// The place of the selected match in the file, or that there is no match; `nil` if no result is known.
  var outputSearchWords: (text: String, isFailure: Bool)? {
    guard search != nil, let output else { return nil }
    if let match { return ("at \(output.percentWords(of: match))", false) }
    if output.found.unfinished != nil { return ("no match in \(OutputSearch.limitWords)", true) }
    return output.found.hasNoMatch ? ("no match", true) : nil
  }

  /// Shows the end of another attempt; `nil` is the latest attempt.
  mutating func show(attempt: Int?) {
    output?.attempt = attempt
    output?.page = nil
    startOver()
  }

  private mutating func startOver() {
    (top, match) = (nil, nil)
    output?.forgetSearch()
    if beforeSearch != nil {
      beforeSearch = Snapshot(top: nil, search: beforeSearch?.search, match: nil, start: 0)
    }
  }

  /// Returns whether the screen has enough lines of the output for a movement by a screen in each direction.
  private func hasEnough(_ rows: LogRows, _ page: OutputPage, height: Int) -> Bool {
    guard let top else {
      return page.reachesEnd && (page.reachesStart || rows.rows.count >= 2 * height)
    }
    let index = rows.index(of: top)
    return (page.reachesStart || index >= height)
      && (page.reachesEnd || rows.rows.count - index >= 2 * height)
  }

  /// Returns a request for the lines of the output that the screen needs.
  ///
  /// - Parameters:
  ///   - rows: The rows on the screen; `nil` if the output may have changed.
  ///   - height: The number of rows on the screen.
  /// - Returns: The request; `nil` if the screen has enough lines, or cannot show the output.
  func request(unlessEnoughIn rows: LogRows?, height: Int) -> OutputRequest? {
    guard let output else { return nil }
    if let rows, let page = output.shownPage, hasEnough(rows, page, height: height) { return nil }
    // A new attempt does not replace the lines that the user reads.
    let attempt = output.attempt ?? (follows ? nil : output.shownPage?.facts.attempt)
    var request = OutputRequest(
      name: output.name, attempt: attempt, position: top.map { .offset($0.line) } ?? .end,
      lineLimit: 3 * height)
    if output.page?.request == request { request.known = output.page?.facts }
    return request
  }
}
