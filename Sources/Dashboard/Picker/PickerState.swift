// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the open picker, which lists the processes that were found, and the demo.
///
/// The selection is a source, never a row. Until the user has selected a source, the first source that is not
/// watched is selected. The user can also choose several processes, which are then watched as one.
struct PickerState: Sendable, Equatable {
  /// A row of the picker, which shows a process or the demo.
  enum Row: Sendable, Equatable {
    case process(ProcessChoice)
    case demo

    /// The source that the program watches if the user chooses the row.
    var source: Source {
      switch self {
      case .process(let choice): .process(choice.id)
      case .demo: .demo
      }
    }

    /// The id of the row's process; `nil` for the demo.
    var processID: Int32? {
      switch self {
      case .process(let choice): choice.processID
      case .demo: nil
      }
    }

    /// The reason why the user cannot choose the row; `nil` if the user can choose it.
    var refusal: String? {
      switch self {
      case .process(let choice): choice.refusal
      case .demo: nil
      }
    }
  }

  /// The result of the searches for processes so far.
  enum SearchResult: Sendable, Equatable {
    /// No search has completed, or the user has requested a search after a failure.
    case pending
    /// The last search has completed. The rows are its result.
    case found
    /// The last search has failed. The rows are the result of an earlier search, if one has completed.
    case failed
  }

  /// The time from the result of a search for processes to the next search.
  static let interval = Duration.seconds(2)
  /// The time from a failed search to the next search.
  static let intervalAfterFailure = Duration.seconds(20)

  /// The rows from the top; the last one is the demo.
  private(set) var rows = [Row.demo]
  /// The result of the searches for processes so far.
  private(set) var result = SearchResult.pending
  /// The time of the next search; `nil` during a search.
  private(set) var nextLook: MonitorTime? = MonitorTime(nanoseconds: 0)
  /// The index of the selected row.
  private(set) var index = 0

  /// The processes that the user has chosen to watch together, in the order of the choice.
  private(set) var chosen: [ProcessChoice.ID] = []

  private var isChosen = false
  /// Whether the user has requested the next search. The user requests the first search by opening the picker.
  private var isRequested = true
  private var top = 0

  /// The selected row.
  var selected: Row { rows[index] }

  /// The source that the program watches next: the chosen processes or, if none is chosen, the source of the selected
  /// row.
  var next: Source {
    switch chosen.count {
    case 0: selected.source
    case 1: .process(chosen[0])
    default: .processes(chosen)
    }
  }

  /// The row of the source that the program watches next; `nil` if it consists of several processes.
  var nextRow: Row? { rows.first { $0.source == next } }

  /// Chooses a process, or removes it from the chosen processes.
  mutating func toggle(_ id: ProcessChoice.ID) {
    if let index = chosen.firstIndex(of: id) { chosen.remove(at: index) } else { chosen.append(id) }
  }

  /// Begins a search for processes if the time of the next search has come. Returns whether the user has requested the
  /// search; `nil` if no search begins.
  mutating func startLooking(at now: MonitorTime) -> Bool? {
    guard let nextLook, nextLook <= now else { return nil }
    self.nextLook = nil
    if isRequested, result == .failed { result = .pending }
    defer { isRequested = false }
    return isRequested
  }

  /// Makes the next search for processes due now. Returns `false` if a search is already running.
  mutating func lookAgain(at now: MonitorTime) -> Bool {
    guard nextLook != nil else { return false }
    nextLook = now
    isRequested = true
    return true
  }

  /// Updates the rows of the picker with the result of a search for processes.
  mutating func take(_ choices: [ProcessChoice], watched: Source?, at now: MonitorTime) {
    let source = selected.source
    rows = choices.map { .process($0) } + [.demo]
    let choosable = Set(choices.lazy.filter { $0.refusal == nil }.map(\.id))
    chosen.removeAll { !choosable.contains($0) }
    result = .found
    nextLook = now + Self.interval
    let same = isChosen ? rows.firstIndex { $0.source == source } : nil
    let first = rows.firstIndex { $0.refusal == nil && $0.source != watched }
    // If the process that the user selected no longer exists, its neighbour is selected.
    index = same ?? (isChosen ? min(index, rows.count - 1) : first ?? 0)
  }

  /// Records that a search for processes has failed. The next search probably fails too. Therefore it begins later than
  /// after a success.
  mutating func noteFailure(at now: MonitorTime) {
    result = .failed
    nextLook = now + Self.intervalAfterFailure
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, height: Int) {
    index = max(0, min(index + offset, rows.count - 1))
    isChosen = true
    top = top(height: height)
  }

  /// Returns the index of the first process that the list shows on a screen with `height` rows.
  func top(height: Int) -> Int {
    let top = min(top, max(0, rows.count - height))
    return max(0, min(max(top, index - height + 1), index))
  }
}
