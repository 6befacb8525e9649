// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Decides when the terminal's bell sounds for a deadlock.
///
/// The bell sounds once for each deadlock that the first update has not reported yet. It does not sound again while the
/// same deadlock continues, even if operations join it.
struct DeadlockBell: Sendable, Equatable {
  /// The deadlocks according to the last update; `nil` before the first update.
  private var known: [MonitorWarning]?

  /// Processes the warnings of an update. Returns whether one of them is a new deadlock.
  mutating func note(_ warnings: [MonitorWarning]) -> Bool {
    let deadlocks = warnings.filter(\.isDeadlock)
    defer { known = deadlocks }
    guard let known else { return false }
    return deadlocks.contains { deadlock in
      !known.contains { Self.isSame($0, as: deadlock) }
    }
  }

  /// Returns whether two warnings are about the same deadlock: one with a common operation.
  private static func isSame(_ first: MonitorWarning, as second: MonitorWarning) -> Bool {
    first.kind == second.kind && first.process == second.process && first.queue == second.queue
      && !Set(first.operations).isDisjoint(with: second.operations)
  }
}

extension Dashboard {
  /// Returns the effect that sounds the bell, if a message has reported a new deadlock and the user has asked for the
  /// bell. A recording sounds no bell.
  mutating func bellForDeadlocks(after message: MonitorMessage) -> [Effect] {
    guard case .update = message, replay == nil else { return [] }
    let isNew = deadlockBell.note(live.warnings)
    return isNew && settings.ringsBell ? [.bell] : []
  }
}
