// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the list of warnings: the selected warning, and the rows on the screen.
///
/// The selection is a warning, never a row. Keys act on this warning even if its row has moved.
struct WarningListState: Sendable, Equatable {
  /// The selected warning; `nil` if there are no warnings.
  private(set) var selected: WarningIdentity?

  /// The number of warnings with the same identity above the selected warning; almost always 0.
  private var equalCount = 0
  /// The index that the selected warning had when the warnings changed last.
  private var lastIndex = 0
  private var top = 0

  /// Returns the index of the selected warning; `nil` if the warning does not exist.
  func index(in warnings: [MonitorWarning]) -> Int? {
    let equal = warnings.indices.filter { WarningIdentity(warnings[$0]) == selected }
    return equal.indices.contains(equalCount) ? equal[equalCount] : equal.last
  }

  /// Keeps the selection valid after the warnings have changed. If the selected warning no longer exists, the
  /// warning of the same kind is selected, because another operation may now be the first one of that warning.
  /// If there is none, the neighbour is selected.
  mutating func settle(in warnings: [MonitorWarning], height: Int) {
    let similar = warnings.firstIndex { warning in
      warning.kind == selected?.kind && warning.queue == selected?.queue
        && warning.process == selected?.process
    }
    place(index(in: warnings) ?? similar ?? lastIndex, in: warnings, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in warnings: [MonitorWarning], height: Int) {
    place((index(in: warnings) ?? lastIndex) + offset, in: warnings, height: height)
  }

  /// Returns the index of the first row on a screen of this height.
  func top(in warnings: [MonitorWarning], height: Int) -> Int {
    let index = index(in: warnings) ?? lastIndex
    let top = min(self.top, max(0, warnings.count - height))
    return max(0, min(max(top, index - height + 1), index))
  }

  private mutating func place(_ index: Int, in warnings: [MonitorWarning], height: Int) {
    lastIndex = max(0, min(index, warnings.count - 1))
    selected = warnings.isEmpty ? nil : WarningIdentity(warnings[lastIndex])
    equalCount = warnings.prefix(lastIndex).count { WarningIdentity($0) == selected }
    top = top(in: warnings, height: height)
  }
}
