// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension SortOrder.Column {
  /// The letter that selects the sort column in the sort menu.
  var letter: Unicode.Scalar {
    switch self {
    case .id: "i"
    case .added: "a"
    case .position: "o"
    case .state: "s"
    case .queue: "u"
    case .priority: "p"
    case .dependencies: "d"
    case .time: "t"
    case .run: "r"
    case .dependents: "b"
    case .name: "n"
    }
  }

  /// The word that follows the column's letter in the sort menu.
  var word: String {
    switch self {
    case .id: "Id"
    case .added: "Added"
    case .position: "Pos"
    case .state: "State"
    case .queue: "Queue"
    case .priority: "Pri"
    case .dependencies: "Deps"
    case .time: "Time"
    case .run: "Run"
    case .dependents: "Blks"
    case .name: "Name"
    }
  }

  /// The word that follows the column's letter in the sort menu on a narrow screen.
  var shortWord: String {
    switch self {
    case .added: "Add"
    case .state: "Stat"
    case .dependencies: "Dep"
    case .dependents: "Blk"
    case .id, .position, .queue, .priority, .time, .run, .name: word
    }
  }

  /// The column of the table that shows the sorting mark; `nil` if the table does not show the value.
  var shownIn: ColumnPlan.Column? {
    switch self {
    case .id: .id
    case .added: nil
    case .position: .position
    case .state: .state
    case .time, .run: .time
    case .queue: .queue
    case .priority: .priority
    case .dependencies: .dependencies
    case .dependents: .dependents
    case .name: .name
    }
  }
}

extension SortOrder {
  /// Whether the smallest value of the sort column is in the first row. In the order of states, executing is
  /// the smallest value and cancelled is the largest.
  var isAscending: Bool {
    switch column {
    case .id, .added, .state, .queue, .name, .position: !isReversed
    case .priority, .dependencies, .time, .run, .dependents: isReversed
    }
  }

  /// The name of the sort column, and a remark if the order is reversed.
  var words: String {
    let column =
      switch column {
      case .id: "id"
      case .added: "added"
      case .position: "position"
      case .state: "state, time"
      case .queue: "queue"
      case .priority: "priority"
      case .dependencies: "unmet dependencies"
      case .time: "time"
      case .run: "longest run"
      case .dependents: "dependents"
      case .name: "name"
      }
    return isReversed ? "\(column), reversed" : column
  }
}
