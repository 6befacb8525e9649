// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The selected warning in the list of warnings, and the rows on the screen.
struct WarningSelection: Sendable, Equatable {
  /// The index of the selected warning; 0 if there are no warnings.
  private(set) var index = 0

  private var identity: WarningIdentity?
  private var top = 0

  /// Keeps the selection valid after the warnings have changed. If the selected warning no longer exists, its
  /// neighbour is selected.
  mutating func settle(in warnings: [MonitorWarning], height: Int) {
    let stays =
      warnings.indices.contains(index) && WarningIdentity(warnings[index]) == identity
    let moved = stays ? index : warnings.firstIndex { WarningIdentity($0) == identity }
    place(moved ?? index, in: warnings, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in warnings: [MonitorWarning], height: Int) {
    place(index + offset, in: warnings, height: height)
  }

  /// Returns the index of the first row on a screen of this height.
  func top(count: Int, height: Int) -> Int {
    let top = min(self.top, max(0, count - height))
    return max(0, min(max(top, index - height + 1), index))
  }

  private mutating func place(_ index: Int, in warnings: [MonitorWarning], height: Int) {
    self.index = max(0, min(index, warnings.count - 1))
    identity = warnings.indices.contains(self.index) ? WarningIdentity(warnings[self.index]) : nil
    top = top(count: warnings.count, height: height)
  }
}
