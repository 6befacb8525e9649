// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The grace periods of several commands, which a program can end early. Any thread may call any method.
package final class GracePeriods: Sendable {
  private struct State {
    var commands: [ObjectIdentifier: CommandEvents] = [:]
    var isOver = false
  }

  private let state = Locked(State())

  /// Creates grace periods that have not ended.
  package init() {}

  /// Ends the grace periods of all commands, also those that begin later. Commands that were not cancelled continue. A
  /// second call does nothing.
  package func end() {
    let commands = state.withLock { state in
      state.isOver = true
      return Array(state.commands.values)
    }
    for command in commands { command.note(.graceEnd) }
  }

  /// Adds a command that has started.
  func add(_ command: CommandEvents) {
    let isOver = state.withLock { state in
      state.commands[ObjectIdentifier(command)] = command
      return state.isOver
    }
    if isOver { command.note(.graceEnd) }
  }

  /// Removes a command that has ended.
  func remove(_ command: CommandEvents) {
    state.withLock { $0.commands[ObjectIdentifier(command)] = nil }
  }
}
