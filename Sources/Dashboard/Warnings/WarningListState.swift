// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the list of warnings: the selected warning, and the lines on the screen.
///
/// The selection is a warning, never a row. At first, the first warning is selected. After that, only a key
/// selects another warning. If the selected warning ends, a ghost cursor replaces its row: a line without a
/// warning. No warning is selected then.
struct WarningListState: Sendable, Equatable {
  /// The warning that was selected last; `nil` only before there are warnings.
  private var last: MonitorWarning?
  /// The number of warnings with the same identity above the selected warning; almost always 0.
  private var equalCount = 0
  private var line = SelectedLine()

  /// Whether the ghost cursor replaces the row of the selected warning.
  var isGhost: Bool { line.isGhost }

  /// Returns the index of the selected warning; `nil` if the warning has ended, or before there are warnings.
  func index(in warnings: [MonitorWarning]) -> Int? {
    isGhost ? nil : lastIndex(in: warnings)
  }

  /// Keeps the selection valid after the warnings have changed.
  mutating func settle(in warnings: [MonitorWarning], height: Int) {
    guard let last else { return place(0, in: warnings, height: height) }
    let continued = isGhost ? nil : warnings.firstIndex { Self.isSame($0, as: last) }
    if let index = lastIndex(in: warnings) ?? continued {
      return place(index, in: warnings, height: height)
    }
    line.showGhost(among: warnings.count, height: height)
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, in warnings: [MonitorWarning], height: Int) {
    let index = index(in: warnings).map { $0 + offset } ?? line.index(movedBy: offset)
    place(index, in: warnings, height: height)
  }

  /// Returns the lines on a screen of this height: the index of a warning, or `nil` for the ghost cursor. If
  /// there are no warnings, there are no lines.
  func lines(of warnings: [MonitorWarning], height: Int) -> [Int?] {
    line.visible(of: warnings.count, height: height)
  }

  private func lastIndex(in warnings: [MonitorWarning]) -> Int? {
    guard let identity = last.map({ WarningIdentity($0) }) else { return nil }
    let equal = warnings.indices.filter { WarningIdentity(warnings[$0]) == identity }
    return equal.indices.contains(equalCount) ? equal[equalCount] : equal.last
  }

  /// Returns whether a warning is the continuation of an earlier one: it is about the same queue or, if it is
  /// about no queue, about one of the same operations. Its first operation may be another one, because the
  /// earlier first operation has finished.
  private static func isSame(_ warning: MonitorWarning, as earlier: MonitorWarning) -> Bool {
    guard warning.kind == earlier.kind, warning.process == earlier.process,
      warning.queue == earlier.queue
    else { return false }
    return warning.queue != nil
      || !Set(warning.operations).isDisjoint(with: earlier.operations)
  }

  private mutating func place(_ index: Int, in warnings: [MonitorWarning], height: Int) {
    guard !warnings.isEmpty else { return }
    line.select(index, of: warnings.count, height: height)
    let selected = warnings[line.number]
    let identity = WarningIdentity(selected)
    last = selected
    equalCount = warnings.prefix(line.number).count { WarningIdentity($0) == identity }
  }
}
