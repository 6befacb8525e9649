// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// What the list holds, in which order, and what is looked for in it.

extension Dashboard {
  // MARK: Order

  /// Sorts by the column whose letter was typed in the menu.
  mutating func takeForSortMenu(_ input: Input) -> [Effect] {
    isChoosingOrder = false
    if case .character(let letter) = input,
      let column = SortOrder.Column.allCases.first(where: { $0.letter == letter })
    {
      listing.order.column = column
      return []
    }
    let isGivenUp = input == .key(.escape) || input == .character("q") || input == .key(.enter)
    return isGivenUp ? [] : [.bell]
  }

  /// Sorts by the column so many places to the right, around the end.
  mutating func moveSortColumn(by offset: Int) {
    let columns = SortOrder.Column.allCases
    guard let index = columns.firstIndex(of: listing.order.column) else { return }
    listing.order.column = columns[(index + offset + columns.count) % columns.count]
  }

  // MARK: What is left out

  /// Why an operation that is known has no row, and which key gives it one.
  func whyNotListed(_ report: OperationReport) -> String {
    if listing.hidesOver, report.state.isOver || shown.hasEnded(report.id) {
      return "is \(report.state.rawValue) and hidden; H shows it"
    }
    if listing.showsWarnedOnly, !shown.warned.contains(report.id) {
      return "has no warning; ! shows all"
    }
    return listing.filter == nil
      ? "is not among the rows shown; \\ filters all" : "does not match the filter; \\ changes it"
  }

  // MARK: Prompts

  mutating func openFilterPrompt() {
    prompt = TextPrompt(.filter(before: listing.filter), text: listing.filter?.text ?? "")
  }

  /// Takes a key, or what was pasted, for the text that is being typed.
  mutating func takeForPrompt(_ input: Input) -> [Effect] {
    switch input {
    case .character(let scalar): prompt?.append([scalar])
    case .paste(let text): prompt?.append(text.unicodeScalars)
    case .key(.backspace):
      if prompt?.text.isEmpty == true { return closePrompt(accepts: false) }
      prompt?.removeLast()
    case .control("u"): prompt?.removeAll()
    case .control("w"): prompt?.removeLastWord()
    case .key(.enter): return closePrompt(accepts: true)
    case .key(.escape): return closePrompt(accepts: false)
    default: return [.bell]
    }
    guard let prompt else { return [] }
    switch prompt.purpose {
    case .filter: applyFilter(prompt.text)
    case .search: searchAsTyped(prompt.text)
    }
    return []
  }

  /// Why the text that is being typed is no filter; `nil` where it is one.
  var filterError: OperationFilterError? {
    guard let prompt, case .filter = prompt.purpose else { return nil }
    do throws(OperationFilterError) {
      _ = try OperationFilter(prompt.text)
      return nil
    } catch {
      return error
    }
  }

  private mutating func closePrompt(accepts: Bool) -> [Effect] {
    guard let prompt else { return [] }
    switch prompt.purpose {
    case .filter(let before):
      if accepts, filterError != nil { return [.bell] }
      if !accepts { listing.filter = before }
    case .search:
      if !accepts { search = nil }
      searchStart = nil
    }
    self.prompt = nil
    return []
  }

  /// Lists what matches the text; while it cannot be read, what matched before.
  private mutating func applyFilter(_ text: String) {
    guard text.contains(where: { $0 != " " }) else {
      listing.filter = nil
      return
    }
    if let filter = try? OperationFilter(text) { listing.filter = filter }
  }

  // MARK: Search

  mutating func openSearchPrompt() {
    prompt = TextPrompt(.search)
    searchStart = list.id
  }

  /// Goes to the first match from where the search began.
  private mutating func searchAsTyped(_ text: String) {
    search = text.isEmpty ? nil : text
    let start = rows.index(of: searchStart) ?? 0
    guard let search else {
      if let searchStart { _ = list.select(searchStart, in: rows, height: pageHeight) }
      return
    }
    _ = goToMatch(of: search, from: start, step: 1)
  }

  /// Goes to the next match below the selection or above it, around the end.
  mutating func searchAgain(step: Int) -> [Effect] {
    guard let search else {
      show("nothing to look for; / begins a search", isWarning: true)
      return [.bell]
    }
    let start = (rows.index(of: list.id) ?? 0) + step
    if goToMatch(of: search, from: start, step: step) { return [] }
    let isCut = matchCount > rows.count
    show(
      "no match for \(search)" + (isCut ? " among the rows shown; \\ filters all" : ""),
      isWarning: true)
    return [.bell]
  }

  private mutating func goToMatch(of text: String, from start: Int, step: Int) -> Bool {
    let count = rows.count
    for offset in 0..<count {
      let index = ((start + offset * step) % count + count) % count
      let id = rows.keys[index].id
      guard let report = shown.operations[id], report.isMatch(of: text) else { continue }
      return list.select(id, in: rows, height: pageHeight)
    }
    return false
  }
}

extension OperationReport {
  /// Whether the text is in its name, its class or its id.
  func isMatch(of text: String) -> Bool {
    title.containsIgnoringCase(text) || className.containsIgnoringCase(text)
      || "\(id)".containsIgnoringCase(text)
  }
}
