// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import OperationsCore
import SystemPackage

/// The processes of a command that a shim runs. The end of the shim is the end of the command.
///
/// The shim has a process group of its own. The first process of the command, the leader, is a child of the shim. It is
/// in the shim's group until it becomes the leader of another group, and it writes its identity before that.
final class ShimGroup: CommandGroup {
  private enum Leader {
    case known(ProcessIdentity)
    /// The process has not started, or it has ended without a trace.
    case missing
    /// The system does not tell, for example because this process has no free descriptor.
    case unknown
  }

  /// The id of the shim's process and process group.
  let shim: Int32
  let files: ShimFiles
  let events: CommandEvents
  /// The leader that was found. It is kept, because the file cannot be read without a free descriptor.
  private let found = Locked<ProcessIdentity?>(nil)

  init(shim: Int32, files: ShimFiles, events: CommandEvents) {
    self.shim = shim
    self.files = files
    self.events = events
  }

  func look() { _ = writtenLeader }

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
  /// - Returns: Whether the leader was found.
  private func terminate() -> Bool {
    guard case .known(let leader) = leader else { return false }
    // A leader without a group has not created it yet.
    if !leader.terminateGroup(), isChild(leader) { csystem_terminate_process(leader.id) }
    return true
  }

  func kill() {
    switch leader {
    case .known(let leader):
      leader.killGroup()
      // A leader that has not created its group, or has joined another one, is not a member.
      if isChild(leader) { csystem_kill_process(leader.id) }
    case .missing:
      // If a leader creates its group at this moment, it has written its identity, and the next call finds it.
      if !events.has(.end) { csystem_kill_group(shim) }
    case .unknown:
      // Without the shim, the exit status of the command would not be known.
      break
    }
  }

  var isEmpty: Bool {
    switch leader {
    case .known(let leader): leader.isGroupEmpty
    case .missing: true
    case .unknown: false
    }
  }

  /// Whether the first process of the command has started.
  var hasStarted: Bool { if case .found = writtenLeader { true } else { false } }

  /// Whether the first process of the command may be alive. Asked after the end of the shim.
  var isLeaderLeftAlone: Bool {
    guard case .known(let leader) = leader else { return false }
    return leader.presence != .gone
  }

  // MARK: Leader

  private var leader: Leader {
    switch writtenLeader {
    case .found(let leader): return .known(leader)
    case .failed: return .unknown
    case .missing: return events.has(.end) ? .missing : childOfShim
    }
  }

  private enum Written {
    case found(ProcessIdentity), missing, failed
  }

  /// The leader according to the file.
  private var writtenLeader: Written {
    if let leader = found.withLock({ $0 }) { return .found(leader) }
    do throws(Errno) {
      guard let leader = try files.processes.command else { return .missing }
      found.withLock { $0 = leader }
      return .found(leader)
    } catch {
      return .failed
    }
  }

  /// The leader that has not written its identity, or whose file was deleted.
  private var childOfShim: Leader {
    let child = csystem_child(shim)
    if child < 0 { return .unknown }
    guard child > 1 else { return .missing }
    var status = csystem_process_status()
    let error = csystem_read_process_status(child, &status)
    if csystem_is_out_of_descriptors(error) { return .unknown }
    guard error == 0, status.parent == shim else { return .missing }
    return .known(ProcessIdentity(status))
  }

  /// Whether a process is a living child of the shim. As long as the shim has not ended, no other process has its id.
  private func isChild(_ process: ProcessIdentity) -> Bool {
    !events.has(.end) && process.parent == shim
  }
}
