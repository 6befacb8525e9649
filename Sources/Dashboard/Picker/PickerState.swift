// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The list of what can be watched, while it is open: the processes that were found, then the demo.
///
/// The selection is a source, never a row. Until the user has chosen one it is the first that would
/// show something else than what is watched.
struct PickerState: Sendable, Equatable {
  /// What a row stands for.
  enum Row: Sendable, Equatable {
    case process(ProcessChoice)
    case demo

    /// What is watched where the row is chosen.
    var source: Source {
      switch self {
      case .process(let choice): .process(choice.id)
      case .demo: .demo
      }
    }

    /// The id of the process; `nil` for the demo.
    var processID: Int32? {
      switch self {
      case .process(let choice): choice.processID
      case .demo: nil
      }
    }

    /// Why it cannot be chosen; `nil` where it can.
    var refusal: String? {
      switch self {
      case .process(let choice): choice.refusal
      case .demo: nil
      }
    }
  }

  /// How long after an answer processes are looked for again.
  static let interval = Duration.seconds(2)

  /// The rows from the top; the last one is the demo.
  private(set) var rows = [Row.demo]
  /// Whether processes have been looked for.
  private(set) var hasFound = false
  /// When they are looked for next; `nil` while they are.
  private(set) var nextLook: MonitorTime? = MonitorTime(nanoseconds: 0)
  /// The index of the selected row.
  private(set) var index = 0

  private var isChosen = false
  private var top = 0

  /// The selected row.
  var selected: Row { rows[index] }

  /// Begins to look where it is time; `true` where the program has to.
  mutating func startLooking(at now: MonitorTime) -> Bool {
    guard let nextLook, nextLook <= now else { return false }
    self.nextLook = nil
    return true
  }

  /// Makes it time to look; `false` while that goes on.
  mutating func lookAgain(at now: MonitorTime) -> Bool {
    guard nextLook != nil else { return false }
    nextLook = now
    return true
  }

  /// Takes in what was found.
  mutating func take(_ choices: [ProcessChoice], watched: Source?, at now: MonitorTime) {
    let source = selected.source
    rows = choices.map { .process($0) } + [.demo]
    hasFound = true
    nextLook = now + Self.interval
    let same = isChosen ? rows.firstIndex { $0.source == source } : nil
    let first = rows.firstIndex { $0.refusal == nil && $0.source != watched }
    // Its neighbour takes over where the chosen one is gone.
    index = same ?? (isChosen ? min(index, rows.count - 1) : first ?? 0)
  }

  /// Selects the row `offset` further down; the first or the last where there are not as many.
  mutating func move(by offset: Int, height: Int) {
    index = max(0, min(index + offset, rows.count - 1))
    isChosen = true
    top = top(height: height)
  }

  /// The index of the first row to show where there is room for so many.
  func top(height: Int) -> Int {
    let top = min(top, max(0, rows.count - height))
    return max(0, min(max(top, index - height + 1), index))
  }
}
