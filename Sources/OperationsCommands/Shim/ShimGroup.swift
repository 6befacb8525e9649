// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem

/// The processes of a command that a shim runs. The end of the shim is the end of the command.
///
/// The shim has a process group of its own. The first process of the command, the leader, is a child of the shim. It is in
/// the shim's group until it becomes the leader of another group, and it writes its identity before that.
struct ShimGroup: CommandGroup {
  /// The id of the shim's process and process group.
  let shim: Int32
  let files: ShimFiles
  let events: CommandEvents

  func terminate(before deadline: ContinuousClock.Instant) async {
    // A shim that is stopped could not write the exit status.
    csystem_continue_group(shim)
    var pause = Duration.milliseconds(1)
    while !terminate(), ContinuousClock.now < deadline, !events.has(.end), !events.has(.graceEnd) {
      await events.wait(for: [.end, .graceEnd], atMost: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  /// Sends SIGTERM.
  ///
  /// - Returns: Whether the leader is there.
  private func terminate() -> Bool {
    guard let leader else { return false }
    if csystem_group_exists(leader.id) {
      csystem_terminate_group(leader.id)
    } else if isChild(leader) {
      // It is not the leader of a group yet.
      csystem_terminate_process(leader.id)
    }
    return true
  }

  func kill() {
    if let leader {
      csystem_kill_group(leader.id)
      // A leader that has not created its group, or has joined another one, is not a member.
      if isChild(leader) { csystem_kill_process(leader.id) }
    } else if !events.has(.end) {
      // If a leader creates its group at this moment, it has written its identity, and the next call finds it.
      csystem_kill_group(shim)
    }
  }

  var isEmpty: Bool {
    guard let leader else { return true }
    return csystem_living_member_count(leader.id) == 0
  }

  /// Whether the shim has ended, but the first process of the command has not.
  var isLeaderLeftAlone: Bool { leader?.presence == .alive }

  /// The first process of the command; `nil` if it has not started.
  private var leader: ProcessIdentity? {
    if let leader = files.processes.command { return leader }
    if events.has(.end) { return nil }
    // The process has not written its identity, or the file was deleted.
    var status = csystem_process_status()
    let child = csystem_child(shim)
    guard child > 1, csystem_read_process_status(child, &status) == 0, status.parent == shim else {
      return nil
    }
    return ProcessIdentity(id: child, startTime: status.start_time)
  }

  /// Whether a process is a living child of the shim. As long as the shim has not ended, no other process has its id.
  private func isChild(_ process: ProcessIdentity) -> Bool {
    !events.has(.end) && process.parent == shim
  }
}
