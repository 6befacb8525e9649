// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Availability {
  /// Whether the user can copy the selected line.
  static let copying = false
}

extension Dashboard {
  /// Copies the selected line to the terminal's clipboard.
  mutating func copySelected() -> [Effect] { [.bell] }

  /// Returns the effect that sounds the bell if there is a new deadlock and the user has asked for the bell. `before`
  /// are the warnings before the last message of the monitored process.
  func bellForDeadlocks(since before: [MonitorWarning]) -> [Effect] { [] }
}
