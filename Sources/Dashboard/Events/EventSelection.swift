// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected line of the log, and the lines on the screen.
///
/// Until a key selects a line, the newest event is selected, and the newest lines stay in view, as with
/// `tail -f`. After a key has selected a line, the selected line does not move on the screen, even if the log
/// inserts lines above it.
struct EventSelection: Sendable, Equatable {
  /// The line number of the selected line; `nil` if the log has no lines.
  private(set) var number: Int?
  /// Whether the screen follows the newest events, and the newest event is selected.
  private(set) var follows = true
  /// The line number of the first line on the screen. It is not used while the screen follows the newest
  /// lines.
  private var top = 0
  /// The contents of the selected line. The line is found by its contents after its line number has changed.
  private var line: EventLog.Line?

  /// Returns the line numbers of the lines that are visible on a screen of this height.
  func visible(in numbers: Range<Int>, height: Int) -> Range<Int> {
    let height = max(0, height)
    let last = max(numbers.lowerBound, numbers.upperBound - height)
    var top = last
    if !follows, let number {
      top = min(max(self.top, number - height + 1), number)
      top = max(numbers.lowerBound, min(top, last))
    }
    return top..<max(top, min(numbers.upperBound, top + height))
  }

  /// Keeps the selection valid after lines were added, inserted or removed, or after the height of the screen
  /// has changed.
  mutating func settle(in log: EventLog, height: Int) {
    if follows {
      // A line without an event has no operation to act on, so it is selected only if no event is on the screen.
      let visible = visible(in: log.numbers, height: height)
      number = visible.last { log[$0]?.isEvent == true } ?? visible.last
    } else if let number, let line, log[number] != line {
      if let moved = log.numbers.first(where: { $0 > number && log[$0] == line }) {
        top += moved - number
        self.number = moved
      }
    }
    settle(in: log.numbers, height: height)
    line = number.flatMap { log[$0] }
  }

  /// Keeps the selection valid after lines were added or removed, or after the height of the screen has
  /// changed.
  mutating func settle(in numbers: Range<Int>, height: Int) {
    guard !numbers.isEmpty else { return follow(in: numbers) }
    guard !follows, let number else { return }
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }

  /// Moves the selection down by `offset` lines. A step down from the last line makes the screen follow the
  /// newest lines again.
  mutating func move(by offset: Int, in numbers: Range<Int>, height: Int) {
    guard !numbers.isEmpty else { return }
    let number = number ?? numbers.upperBound - 1
    if offset > 0, follows || number + offset >= numbers.upperBound {
      follow(in: numbers)
    } else {
      self.number = number
      hold(in: numbers, height: height)
      select(number + offset, in: numbers, height: height)
    }
  }

  /// Selects the oldest line.
  mutating func moveToTop(in numbers: Range<Int>, height: Int) {
    guard !numbers.isEmpty else { return }
    hold(in: numbers, height: height)
    select(numbers.lowerBound, in: numbers, height: height)
  }

  /// Selects the newest line, and makes the screen follow the newest lines.
  mutating func follow(in numbers: Range<Int>) {
    // The next update of the selection selects the newest event.
    self = EventSelection()
    number = numbers.last
  }

  /// Keeps the selected line selected when newer lines arrive, and its place on the screen.
  mutating func hold(in numbers: Range<Int>, height: Int) {
    guard follows, !numbers.isEmpty else { return }
    top = visible(in: numbers, height: height).lowerBound
    follows = false
  }

  private mutating func select(_ number: Int, in numbers: Range<Int>, height: Int) {
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    // The next update of the selection stores the contents of the new line.
    line = nil
    top = visible(in: numbers, height: height).lowerBound
  }
}
