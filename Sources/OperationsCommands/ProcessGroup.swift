// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The process group of a command. The first process of the command, the leader, has the same id as the group.
///
/// Its members are used only while the leader was not reaped. Until then, no other process group can have this id.
struct ProcessGroup: Sendable {
  /// The time for which members are killed until this fails.
  private static let killLimit = Duration.seconds(5)

  let id: Int32
  let events: CommandEvents

  /// Ends all members: sends SIGTERM, and after the grace period, or as soon as the leader has ended, SIGKILL until no
  /// member is alive.
  ///
  /// - Returns: Whether no member is alive.
  func stop(gracePeriod: Duration) async -> Bool {
    csystem_terminate_group(id)
    await events.wait(for: [.end, .graceEnd], atMost: gracePeriod)
    return await kill()
  }

  /// Sends SIGKILL until no member is alive, for a limited time.
  func kill() async -> Bool {
    let deadline = ContinuousClock.now + Self.killLimit
    var pause = Duration.milliseconds(1)
    while true {
      csystem_kill_group(id)
      // A leader that has joined another group is not a member.
      let hasLeaderEnded = events.has(.end)
      if !hasLeaderEnded { csystem_kill_process(id) }
      if hasLeaderEnded, csystem_living_member_count(id) == 0 { return true }
      if ContinuousClock.now > deadline { return false }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}
