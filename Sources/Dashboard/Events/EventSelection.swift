// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The selected line of the log, and the lines on the screen.
///
/// If no line is selected, the newest lines stay in view, as with `tail -f`. A selected line stays where it
/// is.
struct EventSelection: Sendable, Equatable {
  /// The number of the selected line; `nil` while the newest lines are followed.
  private(set) var number: Int?
  /// The number of the first line on the screen, unless the newest lines are followed.
  private var top = 0

  /// Whether the newest events stay in view.
  var follows: Bool { number == nil }

  /// Returns the numbers of the lines on a screen of this height.
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

  /// Keeps the selection valid after lines were added or removed, or after the height has changed.
  mutating func settle(in numbers: Range<Int>, height: Int) {
    guard let number else { return }
    guard !numbers.isEmpty else {
      self.number = nil
      return
    }
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }

  /// Moves the selection down by `offset` lines. If the newest lines are followed, the first step up selects
  /// the last line. A step down from the last line follows the newest lines again.
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

  /// Follows the newest lines.
  mutating func follow() { self = EventSelection() }

  private mutating func select(_ number: Int, in numbers: Range<Int>, height: Int) {
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }
}
