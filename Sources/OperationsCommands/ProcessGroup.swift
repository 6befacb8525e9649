// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The process group of a command. The first process of the command, the leader, has the same id as the group.
///
/// Its members are used only while the leader was not reaped. Until then, no other process group can have this id.
struct ProcessGroup: CommandGroup {
  let id: Int32
  let events: CommandEvents

  func terminate(before deadline: ContinuousClock.Instant) async { csystem_terminate_group(id) }

  func kill() {
    csystem_kill_group(id)
    // A leader that has joined another group is not a member.
    if !events.has(.end) { csystem_kill_process(id) }
  }

  var isEmpty: Bool { csystem_living_member_count(id) == 0 }
}
