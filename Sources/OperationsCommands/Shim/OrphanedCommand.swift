// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore

/// A command that is alive although its shim was killed. No process would notice its end, or learn its exit status.
package final class OrphanedCommand: Sendable {
  private let command: Command
  private let leader: ProcessIdentity
  /// The end of the command, as soon as it has begun.
  private let end = Locked<Task<Bool, Never>?>(nil)

  /// Creates the description of a command.
  ///
  /// - Parameters:
  ///   - command: The name and the grace periods of the command. The other properties are not used.
  ///   - leader: The first process of the command.
  package init(_ command: Command, leader: ProcessIdentity) {
    self.command = command
    self.leader = leader
  }

  /// Ends the processes of the command as the cancellation of an operation does, and returns when none is alive. If
  /// this has begun before, only waits.
  ///
  /// - Throws: ``CommandError`` if a process is still alive 5 seconds after SIGKILL. The next call tries again.
  package func stop() async throws(CommandError) {
    let task = end.withLock { end in
      let task = end ?? Task { [command, leader] in await Self.stop(command, leader) }
      end = task
      return task
    }
    if await task.value { return }
    end.withLock { end in
      if end == task { end = nil }
    }
    throw CommandError(.stillAlive, command.name)
  }

  private static func stop(_ command: Command, _ leader: ProcessIdentity) async -> Bool {
    let events = CommandEvents()
    command.gracePeriods?.add(events)
    defer { command.gracePeriods?.remove(events) }
    // If the process cannot be ended, nothing waits for this task.
    Task {
      await AdoptedShim(processID: leader.id, startTime: leader.startTime).awaitEnd()
      events.note(.end)
    }
    return await OrphanGroup(leader: leader, events: events).stop(gracePeriod: command.gracePeriod)
  }
}

/// The processes of a command without a shim. The end of the leader is the end of the command.
struct OrphanGroup: CommandGroup {
  let leader: ProcessIdentity
  let events: CommandEvents

  func terminate(before deadline: ContinuousClock.Instant) async {
    // A leader whose shim was killed early has not created its group.
    if !leader.terminateGroup(), leader.presence == .alive { csystem_terminate_process(leader.id) }
  }

  func kill() {
    leader.killGroup()
    if leader.presence == .alive { csystem_kill_process(leader.id) }
  }

  var isEmpty: Bool { leader.isGroupEmpty }
}
