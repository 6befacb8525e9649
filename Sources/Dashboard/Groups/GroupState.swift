// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The groups of operations that the list shows instead of operations: their order, and the selected group.
///
/// The first group is selected until a key moves the selection. After that, the selected group stays selected while
/// the order changes. If the group disappears, a ghost cursor replaces its row: a line without a group.
struct GroupState: Sendable, Equatable {
  /// The value by which the operations are grouped.
  let by: OperationGroups.By
  /// The order of the groups.
  var order = GroupOrder()
  /// The groups in their order; empty before the monitor has counted the operations.
  private(set) var rows: [OperationGroups.Group] = []

  private var key: OperationGroups.Key?
  private var hasMoved = false
  private var line = SelectedLine()

  /// Creates a list of groups before the monitor has counted the operations.
  init(by: OperationGroups.By) { self.by = by }

  /// The words for the next step of the key that changes the grouping. All have the same width.
  var nextWords: String {
    switch by {
    case .kind: "By queue"
    case .queue: "List    "
    }
  }

  /// The selected group; `nil` if there are no groups, or if the selected group has disappeared.
  var selected: OperationGroups.Group? {
    guard !line.isGhost, rows.indices.contains(line.number) else { return nil }
    return rows[line.number]
  }

  /// Sorts the groups again, and keeps the selection valid.
  mutating func settle(in monitored: MonitoredState, height: Int) {
    guard let groups = monitored.groups, groups.by == by else {
      rows = []
      return
    }
    rows = order.sorted(groups.groups, in: monitored)
    if !hasMoved {
      place(0, height: height)
    } else if let index = rows.firstIndex(where: { $0.key == key }) {
      place(index, height: height)
    } else {
      line.showGhost(among: rows.count, height: height)
    }
  }

  /// Moves the selection down by `offset` rows, at most to the first or the last row.
  mutating func move(by offset: Int, height: Int) {
    guard !rows.isEmpty else { return }
    hasMoved = true
    place(line.index(movedBy: offset), height: height)
  }

  /// Returns the lines on a screen of this height: the index of a row, or `nil` for the ghost cursor. If there are no
  /// groups, there are no lines.
  func lines(height: Int) -> [Int?] { line.visible(of: rows.count, height: height) }

  private mutating func place(_ index: Int, height: Int) {
    line.select(index, of: rows.count, height: height)
    key = rows.isEmpty ? nil : rows[line.number].key
  }
}
