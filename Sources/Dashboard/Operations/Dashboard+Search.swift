// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// The search in the list. The monitor searches all operations of the list, also those without a row, and
// reports the matches near the selected operation.

extension Dashboard {
  /// The search whose matches the dashboard requests; `nil` if there is no search. If the user has not typed a
  /// letter yet, the text is empty, and the monitor prepares the search.
  var wantedSearch: Interest.Search? {
    guard screen.view == .operations else { return nil }
    if let text = typedSearch { return Interest.Search(text: text, start: list.searchStart) }
    return list.search.map { text in
      Interest.Search(text: text, start: keptSearchStart(of: text) ?? list.selection.id)
    }
  }

  /// The start of the present search, if the matches near this start suffice; otherwise `nil`. The start stays the
  /// same while the selection moves, so that the monitor does not have to search again after each key.
  private func keptSearchStart(of text: String) -> OperationReport.ID? {
    guard let present = connection.interest.search, present.text == text, list.searchSteps == nil
    else { return nil }
    guard let id = list.selection.id, let matches = live.matches, matches.search == present,
      !matches.isComplete
    else { return present.start }
    guard let index = matches.ids.firstIndex(of: id) else {
      let isMatch = shown.operations[id]?.isMatch(of: text) == true
      return isMatch ? nil : present.start
    }
    let margin = matches.ids.count / 4
    return (margin..<matches.ids.count - margin).contains(index) ? present.start : nil
  }

  /// The text that the user types in the search prompt; `nil` if the prompt is not open.
  private var typedSearch: String? {
    guard let prompt = prompts.text, case .search = prompt.purpose else { return nil }
    return prompt.text
  }

  /// The matches of the search; `nil` before the monitor has reported them. If the monitor does not answer, only
  /// the rows of the list are searched.
  private var matches: SearchMatches? {
    guard let wanted = wantedSearch, !wanted.text.isEmpty else { return nil }
    if isUnanswered || paused != nil {
      let start = typedSearch == nil ? list.selection.id : list.searchStart
      return matchesAmongRows(of: Interest.Search(text: wanted.text, start: start))
    }
    return live.matches.flatMap { $0.search.text == wanted.text ? $0 : nil }
  }

  private func matchesAmongRows(of search: Interest.Search) -> SearchMatches {
    let keys = list.rows.keys
    let found = keys.indices.filter {
      shown.operations[keys[$0].id]?.isMatch(of: search.text) == true
    }
    let start = list.rows.index(of: search.start) ?? 0
    return SearchMatches(
      search, count: found.count, position: found.count { $0 < start }
    ) { found[$0].map { keys[$0].id } }
  }

  /// The number of the selected match and the number of all matches, or that there is no match; `nil` if there is
  /// no search.
  var searchWords: (text: String, isFailure: Bool)? {
    guard let wanted = wantedSearch, !wanted.text.isEmpty else { return nil }
    guard let matches else { return ("searching", false) }
    guard matches.count > 0 else { return ("no match\(matchLimits)", true) }
    let count = CountText.text(matches.count)
    let remark = unansweredWords(of: matches)
    guard let id = list.selection.id, let position = matches.position(of: id) else {
      return ("\(matches.count == 1 ? "1 match" : "\(count) matches")\(remark)", false)
    }
    return ("\(CountText.text(position + 1)) of \(count)\(remark)", false)
  }

  /// Returns words about the processes that have not answered the search; empty if all have answered.
  private func unansweredWords(of matches: SearchMatches) -> String {
    let numbers = matches.unanswered
    guard let first = numbers.first else { return "" }
    if numbers.count > 1 { return "; \(numbers.count) processes have not answered" }
    let name = shown.processes.first { $0.number == first }?.title
    return "; \(name ?? "process \(first)") has not answered"
  }

  /// Words about operations that the search does not examine, for use after "no match"; empty if there are none.
  private var matchLimits: String {
    let listing = list.listing
    let isPart = listing.filter != nil || listing.hidesOver || listing.showsWarnedOnly
    if isUnanswered || paused != nil { return " in the rows shown" }
    // If very many operations are added quickly, the monitor needs some time to read all of them.
    let unreadCount = live.counts.unfinished - live.keptUnfinishedCount
    if unreadCount > 0 {
      let remark = matches.map(unansweredWords) ?? ""
      let verb = unreadCount == 1 ? "is" : "are"
      return " yet (\(CountText.text(unreadCount, "operation")) \(verb) not read yet)\(remark)"
    }
    return (isPart ? " in the filtered list" : "") + (matches.map(unansweredWords) ?? "")
  }

  // MARK: Keys

  mutating func openSearchPrompt() {
    prompts.text = TextPrompt(.search)
    list.searchStart = list.selection.id
    list.searchSteps = nil
  }

  /// Selects the first match at or after the operation that was selected when the search began.
  mutating func searchAsTyped(_ text: String) {
    list.search = text.isEmpty ? nil : text
    list.searchSteps = nil
    selectSearchStart()
    guard list.search != nil else { return }
    list.searchSteps = 0
    selectMatch()
  }

  /// Removes the search text, and selects the operation that was selected when the search began.
  mutating func cancelSearch() {
    (list.search, list.searchSteps) = (nil, nil)
    selectSearchStart()
  }

  private mutating func selectSearchStart() {
    guard let start = list.searchStart, start != list.selection.id else { return }
    _ = selectBeyondRows(start)
  }

  /// Selects a match below or above the selected operation. The search continues at the other end of the list.
  mutating func searchAgain(step: Int) -> [Effect] {
    guard let search = list.search else {
      show("no search text; press / to search", isWarning: true)
      return [.bell]
    }
    if let matches, matches.count == 0 {
      show("no match for \(search)\(matchLimits)", isWarning: true)
      return [.bell]
    }
    list.searchSteps = (list.searchSteps ?? 0) + step
    selectMatch()
    return []
  }

  /// Drops the movements to matches that the monitor has not reported yet, unless the action continues the
  /// search. A late report must not move the selection after another key has used or moved it.
  mutating func stopSearch(before action: KeyAction) {
    if action == .list(.searchNext) || action == .list(.searchPrevious) { return }
    // A key that works everywhere, such as Control-L, does not close the prompt.
    if typedSearch == nil { list.searchSteps = nil }
  }

  /// Moves the selection by ``OperationListState/searchSteps``, if the necessary matches are known.
  mutating func selectMatch() {
    guard let steps = list.searchSteps, let matches else { return }
    if matches.count == 0 {
      // While the user types, the selection moves to a match that the monitor reports later.
      if typedSearch == nil { list.searchSteps = nil }
      return
    }
    let start = typedSearch == nil ? list.selection.id : list.searchStart
    // The matches of an earlier start are useful only if they contain the present start.
    guard let id = matches.match(steps, from: start), selectBeyondRows(id) else { return }
    list.searchSteps = nil
  }

  /// Selects an operation, also if it is not among the first rows of the list. Returns `false` if the operation
  /// is not known or does not belong in the list.
  private mutating func selectBeyondRows(_ id: OperationReport.ID) -> Bool {
    if list.rows.index(of: id) == nil {
      list.rows = ListRows(of: shown, as: list.listing, selected: id, at: shownTime)
    }
    return list.selection.select(id, in: list.rows, height: pageHeight)
  }
}
