// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The selected line of the log, and the lines on the screen.
///
/// If no line is selected, the newest lines stay in view, as with `tail -f`. If a line is selected, the selected
/// line does not move on the screen, even if the log inserts lines above it.
struct EventSelection: Sendable, Equatable {
  /// The line number of the selected line; `nil` while the screen follows the newest lines.
  private(set) var number: Int?
  /// The line number of the first line on the screen. It is not used while the screen follows the newest
  /// lines.
  private var top = 0
  /// The contents of the selected line. The line is found by its contents after its line number has changed.
  private var line: EventLog.Line?

  /// Whether the screen follows the newest events.
  var follows: Bool { number == nil }

  /// Returns the line numbers of the lines that are visible on a screen of this height.
  func visible(in numbers: Range<Int>, height: Int) -> Range<Int> {
    let height = max(0, height)
    let last = max(numbers.lowerBound, numbers.upperBound - height)
    var top = last
    if let number {
      top = min(max(self.top, number - height + 1), number)
      top = max(numbers.lowerBound, min(top, last))
    }
    return top..<max(top, min(numbers.upperBound, top + height))
  }

  /// Keeps the selection valid after lines were added, inserted or removed, or after the height of the screen
  /// has changed.
  mutating func settle(in log: EventLog, height: Int) {
    if let number, let line, log[number] != line {
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
    guard let number else { return }
    guard !numbers.isEmpty else {
      self.number = nil
      return
    }
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }

  /// Moves the selection down by `offset` lines. If the screen follows the newest lines, the first step up
  /// selects the last line. A step down from the last line makes the screen follow the newest lines again.
  mutating func move(by offset: Int, in numbers: Range<Int>, height: Int) {
    guard !numbers.isEmpty else { return }
    guard let number else {
      guard offset < 0 else { return }
      top = visible(in: numbers, height: height).lowerBound
      select(numbers.upperBound + offset, in: numbers, height: height)
      return
    }
    if offset > 0, number + offset >= numbers.upperBound {
      follow()
    } else {
      select(number + offset, in: numbers, height: height)
    }
  }

  /// Selects the oldest line.
  mutating func moveToTop(in numbers: Range<Int>, height: Int) {
    guard !numbers.isEmpty else { return }
    select(numbers.lowerBound, in: numbers, height: height)
  }

  /// Removes the selection, so that the screen follows the newest lines.
  mutating func follow() { self = EventSelection() }

  private mutating func select(_ number: Int, in numbers: Range<Int>, height: Int) {
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    // The next update of the selection stores the contents of the new line.
    line = nil
    top = visible(in: numbers, height: height).lowerBound
  }
}
