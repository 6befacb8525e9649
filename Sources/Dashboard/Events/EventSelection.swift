// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which line of the log is selected, and which are on screen.
///
/// Without a selection the newest stay in view, as with `tail -f`. A selected line stays where it is.
struct EventSelection: Sendable, Equatable {
  /// The number of the selected line; `nil` while the newest are followed.
  private(set) var number: Int?
  /// The number of the first line on screen, unless the newest are followed.
  private var top = 0

  /// Whether the newest events stay in view.
  var follows: Bool { number == nil }

  /// The numbers of the lines on a screen of this height.
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

  /// Holds on to the selection after lines have come and gone, or the height has changed.
  mutating func settle(in numbers: Range<Int>, height: Int) {
    guard let number else { return }
    guard !numbers.isEmpty else {
      self.number = nil
      return
    }
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }

  /// Selects the line `offset` further down. The first step up from the newest selects the last
  /// line; a step beyond it follows again.
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

  /// Follows the newest.
  mutating func follow() { self = EventSelection() }

  private mutating func select(_ number: Int, in numbers: Range<Int>, height: Int) {
    self.number = max(numbers.lowerBound, min(number, numbers.upperBound - 1))
    top = visible(in: numbers, height: height).lowerBound
  }
}
