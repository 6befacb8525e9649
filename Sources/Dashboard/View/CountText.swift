// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Large numbers in words.
enum CountText {
  /// A number with commas between thousands: `1,000,000`.
  static func text(_ count: Int) -> String {
    var text = ""
    for (index, digit) in String(count.magnitude).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (count < 0 ? "-" : "") + String(text.reversed())
  }
}

extension SortOrder.Column {
  /// The column of the table that bears the mark.
  var shownIn: TableColumns.Column {
    switch self {
    case .id: .id
    case .state, .time: .time
    case .queue: .queue
    case .priority: .priority
    case .dependencies: .dependencies
    case .dependents: .dependents
    case .name: .title
    }
  }
}

extension SortOrder {
  /// What is sorted by, and whether it is reversed.
  var words: String {
    let column =
      switch column {
      case .id: "id"
      case .state: "state, time"
      case .queue: "queue"
      case .priority: "priority"
      case .dependencies: "unmet dependencies"
      case .time: "time"
      case .dependents: "dependents"
      case .name: "name"
      }
    return isReversed ? "\(column), reversed" : column
  }
}
