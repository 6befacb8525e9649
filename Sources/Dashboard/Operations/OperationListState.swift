// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the list of operations: its contents, its order, its selection, and its search.
struct OperationListState: Sendable {
  /// The settings that determine the contents and the order of the list.
  var listing = Listing()
  /// The rows of the list. They are updated after each message.
  var rows = ListRows()
  var selection = ListSelection()
  /// The text that the search key `n` searches for; `nil` before the first search.
  var search: String?
  /// The operation that was selected when the user began to type the search text.
  var searchStart: OperationReport.ID?
  /// The number of matches by which the selection will move when the monitor has reported the matches; `nil` if
  /// it will not move. 0 selects the first match at or after the selected operation.
  var searchSteps: Int?
  /// The number of cells by which the operations' names are scrolled to the left.
  var titleOffset = 0
  /// The cancel keys that are printed on the rows.
  var cancelKeys = CancelKeys()
  /// The rows of operations that the user has cancelled.
  var cancelledRows = CancelledRows()
  /// The requested changes of a single operation's priority whose results have not arrived, in order.
  var priorityChanges: [PriorityChange] = []

  /// Whether two known operations have had different priorities. If so, the column of priorities stays, so
  /// that the columns do not move again.
  private var havePrioritiesDiffered = false

  /// Whether the list has a column of priorities.
  var hasPriorities: Bool { havePrioritiesDiffered || listing.order.column == .priority }

  /// The listing (filter, order and hidden operations) for which the present rows were made.
  private var settledListing = Listing()
  /// The time until which rows for a new filter or a new order can arrive. Until then, the first row stays
  /// selected if the user has not selected another one.
  private var rowsExpectedUntil: MonitorTime?

  /// The time in which the monitor sends the rows for a new listing.
  private static let answerTime = Duration.seconds(1)

  /// Updates the rows and the selection after the monitored state, the filter, the order or the screen's
  /// height has changed.
  mutating func settle(
    with monitored: MonitoredState, shownTime: MonitorTime, height: Int, at now: MonitorTime
  ) {
    let isNewListing = listing != settledListing
    if isNewListing {
      settledListing = listing
      rowsExpectedUntil = now + Self.answerTime
      cancelledRows.removeAll()
    }
    if monitored.hasDifferentPriorities { havePrioritiesDiffered = true }
    rows = ListRows(
      of: monitored, as: listing, selected: selection.id, cancelled: cancelledRows, at: shownTime)
    cancelledRows.follow(rows)
    if let rowsExpectedUntil, now < rowsExpectedUntil, selection.staysAtTop {
      selection.moveToTop(in: rows, height: height)
    } else if isNewListing, rows.index(of: selection.id) == nil {
      selection.moveToNeighbour(in: rows, height: height)
    }
    selection.settle(in: rows, height: height)
  }

  /// Notes that the user has pressed a key. From now on, only keys and a new listing change the selection.
  mutating func noteKey() { rowsExpectedUntil = nil }

  /// Sorts the list by the column at this distance to the right of the present one, in the natural order of the
  /// column. The first column follows the last one.
  mutating func moveSortColumn(by offset: Int) {
    let columns = SortOrder.Column.allCases
    guard let index = columns.firstIndex(of: listing.order.column) else { return }
    listing.order = SortOrder(by: columns[(index + offset + columns.count) % columns.count])
  }

  /// Scrolls the names of operations by this number of cells. A positive number shows more of the end of long
  /// names.
  mutating func scrollTitles(by offset: Int) {
    titleOffset = max(0, min(200, titleOffset + offset))
  }
}

// The contents, the order and the search of the list.

extension Dashboard {
  /// Performs an action of the list.
  mutating func perform(_ key: KeyAction.List, _ input: Input) -> [Effect] {
    switch key {
    case .openFilter: openFilterPrompt()
    case .openSearch: openSearchPrompt()
    case .searchNext: return searchAgain(step: 1)
    case .searchPrevious: return searchAgain(step: -1)
    case .openSortMenu: prompts.isChoosingOrder = true
    case .sortNext: list.moveSortColumn(by: 1)
    case .sortPrevious: list.moveSortColumn(by: -1)
    case .invertOrder: list.listing.order.isReversed.toggle()
    case .pin: list.selection.isPinned.toggle()
    case .scrollLeft: list.scrollTitles(by: -8)
    case .scrollRight: list.scrollTitles(by: 8)
    case .toggleOver: list.listing.hidesOver.toggle()
    case .toggleWarned:
      // Successive presses of the key `!` have three effects: they open the list of warnings, then list only
      // the operations with warnings, and then list all operations again.
      guard list.listing.showsWarnedOnly else { return perform(.open as KeyAction.Warnings) }
      list.listing.showsWarnedOnly = false
    case .goToOperation:
      if case .character(let digit) = input {
        prompts.goTo = GoToPrompt(digit, process: goToProcess, at: now)
      }
    }
    return []
  }

  // MARK: Order

  /// Sorts the list by the column whose letter the user has typed in the menu, in the natural order of the column. If
  /// the list is already sorted by the column, the order stays the same.
  mutating func takeForSortMenu(_ input: Input) -> [Effect] {
    prompts.isChoosingOrder = false
    if case .character(let letter) = input,
      let column = SortOrder.Column.allCases.first(where: { $0.letter == letter })
    {
      if column != list.listing.order.column { list.listing.order = SortOrder(by: column) }
      return []
    }
    let isGivenUp = input == .key(.escape) || input == .character("q") || input == .key(.enter)
    return isGivenUp ? [] : [.bell]
  }

  // MARK: Exclusion

  /// Returns why a known operation has no row in the list, and which key to press to show the operation.
  func whyNotListed(_ report: OperationReport) -> String {
    switch list.listing.exclusion(of: report, in: shown, at: shownTime) {
    case .over: return "is \(report.state.rawValue) and hidden; press H to show it"
    case .unwarned: return "has no warning; press ! to show all operations"
    case .filtered, nil:
      return list.listing.filter == nil
        ? "is not in the rows shown; press \\ to filter all operations"
        : "does not match the filter; press \\ to change it"
    }
  }

  /// Returns the reason why an operation has no row on the screen: its end, or the reason in `words`.
  func whyNoRow(_ id: OperationReport.ID, otherwise words: String) -> String {
    // A replay can go back to an earlier moment of the recording. The state at that moment does not contain
    // operations that were added later.
    guard let report = shown.operations[id] else { return replay == nil ? "finished" : words }
    return report.state.isOver ? report.state.rawValue : words
  }

  /// Clears the filter of the list or, if the list has no filter, the search text.
  mutating func clearListing() {
    if list.listing.filter != nil {
      list.listing.filter = nil
      show("filter cleared")
    } else if list.search != nil {
      (list.search, list.searchSteps) = (nil, nil)
      show("search cleared")
    }
  }

  // MARK: Prompts

  mutating func openFilterPrompt() {
    prompts.text = TextPrompt(
      .filter(before: list.listing.filter), text: list.listing.filter?.text ?? "")
  }

  /// Processes a key or pasted text while the user types a text in a prompt.
  mutating func takeForPrompt(_ input: Input) -> [Effect] {
    switch input {
    case .character(let scalar): prompts.text?.append([scalar])
    case .paste(let text): prompts.text?.append(text.unicodeScalars)
    case .key(.backspace):
      if prompts.text?.text.isEmpty == true { return closePrompt(accepts: false) }
      prompts.text?.removeLast()
    case .control("u"): prompts.text?.removeAll()
    case .control("w"): prompts.text?.removeLastWord()
    case .key(.enter): return closePrompt(accepts: true)
    case .key(.escape): return closePrompt(accepts: false)
    case .control, .alt, .key, .function, .mouse: return [.bell]
    }
    guard let prompt = prompts.text else { return [] }
    switch prompt.purpose {
    case .filter: applyFilter(prompt.text)
    case .search: searchAsTyped(prompt.text)
    case .logSearch: return searchLogAsTyped(prompt.text)
    case .rate, .time: break
    }
    return []
  }

  /// The error in the typed filter; `nil` if the filter is valid.
  var filterError: OperationFilterError? {
    guard let prompt = prompts.text, case .filter = prompt.purpose else { return nil }
    do throws(OperationFilterError) {
      _ = try OperationFilter(prompt.text)
      return nil
    } catch {
      return error
    }
  }

  private mutating func closePrompt(accepts: Bool) -> [Effect] {
    guard let prompt = prompts.text else { return [] }
    switch prompt.purpose {
    case .filter(let before):
      if accepts, filterError != nil { return [.bell] }
      if !accepts { list.listing.filter = before }
      if accepts { noteFilterOfSetup(before: before) }
    case .logSearch:
      endLogSearch(accepts: accepts)
    case .search:
      if !accepts { cancelSearch() }
      list.searchStart = nil
      // The monitor may have already reported that there is no match.
      if list.searchSteps != nil {
        prompts.text = nil
        selectMatch()
      }
    case .rate(let id):
      if accepts { return acceptRate(prompt.text, of: id) }
    case .time:
      if accepts { return acceptTime(prompt.text) }
    }
    prompts.text = nil
    return []
  }

  /// Applies the typed filter to the list. If the filter is not valid, the previous filter remains.
  private mutating func applyFilter(_ text: String) {
    guard text.contains(where: { $0 != " " }) else {
      list.listing.filter = nil
      return
    }
    if let filter = try? OperationFilter(text) { list.listing.filter = filter }
  }

  // MARK: Numbers

  /// Selects an operation in the list. If that is impossible, shows the reason and returns `false`.
  mutating func select(_ id: OperationReport.ID) -> Bool {
    guard let report = shown.operations[id] else {
      showUnknown(id)
      return false
    }
    guard list.selection.select(id, in: list.rows, height: pageHeight) else {
      show("\(id) \(whyNotListed(report))", isWarning: true)
      return false
    }
    return true
  }

  /// Shows a message that no operation with this id is known.
  mutating func showUnknown(_ id: some CustomStringConvertible) {
    let number = "\(id)".trimmingPrefix("#")
    show("no operation has the number \(number), or it finished long ago", isWarning: true)
  }

  /// Processes a key while the user types an operation's number. Returns `false` if the key has completed the
  /// number and the key's own action must still be performed.
  mutating func takeForGoTo(_ input: Input) -> Bool {
    if case .character(let digit) = input,
      ("0"..."9").contains(digit) || digit == "#" && prompts.goTo?.takesSign == true
    {
      prompts.goTo?.append(digit, at: now)
    } else if input == .key(.backspace) {
      prompts.goTo?.removeLast(at: now)
      if prompts.goTo?.digits.isEmpty == true { prompts.goTo = nil }
    } else if input == .key(.escape) || input == .character("q") {
      prompts.goTo = nil
    } else {
      finishGoTo()
      return input == .key(.enter)
    }
    return true
  }

  /// Selects the operation whose number the user has typed. If that is impossible, shows the reason.
  mutating func finishGoTo() {
    guard let goTo = prompts.goTo else { return }
    prompts.goTo = nil
    guard let id = goTo.id else { return showUnknown(goTo.text) }
    guard screen.view == .tree, let direction = tree?.direction else {
      _ = select(id)
      return
    }
    if changeTree({ $0.moveToNode(id, height: $1) }) != [], select(id) { openTree(direction) }
  }
}
