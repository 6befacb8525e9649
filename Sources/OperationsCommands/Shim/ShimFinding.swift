// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import SystemPackage

/// What has become of a shim.
package enum ShimFinding: Hashable, Sendable {
  /// The shim is alive: the command runs, or its exit status will be known in a moment.
  case alive(AdoptedShim)
  /// The command has ended, and its exit status is known: a number from 0 to 255.
  case ended(status: Int32)
  /// The shim is not alive, and has left no exit status. The command has ended, or has never started.
  case lost
  /// The shim is not alive, and has left no exit status, but this first process of the command is alive. The exit
  /// status will not be known.
  case orphaned(ProcessIdentity)
  /// It is not known if the command runs. The value says why, as one sentence.
  case unknown(String)
}

extension ShimFiles {
  /// Finds out what has become of the shim.
  ///
  /// The lock decides. As long as it is held, a process of the shim exists, and no other process has its id. The caller's
  /// task must not be cancelled, because then the method does not pause between two looks.
  ///
  /// - Parameters:
  ///   - bootIDAgrees: Whether the shim was started on this machine, which was not restarted since then.
  ///   - patience: The time for which a shim that is alive and has not written its identity is awaited.
  /// - Returns: What was found.
  package func find(bootIDAgrees: Bool, patience: Duration) async -> ShimFinding {
    let deadline = ContinuousClock.now + patience
    var pause = Duration.milliseconds(1)
    while true {
      let (finding, isFinal) = look(bootIDAgrees: bootIDAgrees)
      if isFinal || ContinuousClock.now >= deadline { return finding }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }

  /// Returns what can be found at this moment, and whether a later look has the same result.
  private func look(bootIDAgrees: Bool) -> (ShimFinding, isFinal: Bool) {
    let lock = csystem_is_locked(shim)
    do throws(Errno) {
      if lock == 1 { return try lookAtLocked(bootIDAgrees: bootIDAgrees) }
      guard lock == 0 || csystem_is_not_found(-lock) else { throw Errno(rawValue: -lock) }
    } catch {
      return failure(error, shim)
    }
    do throws(Errno) {
      if let status = try exitStatus { return (.ended(status: status), true) }
    } catch {
      return failure(error, status)
    }
    return bootIDAgrees ? lookWithoutShim() : (.lost, true)
  }

  private func lookAtLocked(bootIDAgrees: Bool) throws(Errno) -> (ShimFinding, isFinal: Bool) {
    guard bootIDAgrees else { return (unknown("another machine has locked “\(shim)”"), true) }
    guard let process = try processes.shim else {
      return (unknown("the process that has locked “\(shim)” has not written its id"), false)
    }
    guard process.presence == .alive else {
      // The shim may have ended since the look at the lock.
      return (unknown("“\(shim)” is locked, but not by process \(process.id)"), false)
    }
    return (.alive(AdoptedShim(processID: process.id, startTime: process.startTime)), true)
  }

  /// Looks for the command of a shim that has ended without an exit status.
  private func lookWithoutShim() -> (ShimFinding, isFinal: Bool) {
    do throws(Errno) {
      guard let command = try processes.command else { return (.lost, true) }
      switch command.presence {
      case .alive: return (.orphaned(command), true)
      case .gone: return (.lost, true)
      case .unknown: return (unknown("the state of process \(command.id) cannot be read"), false)
      }
    } catch {
      return failure(error, shim)
    }
  }

  /// Returns the finding if a file cannot be read. A shortage of descriptors can pass.
  private func failure(_ error: Errno, _ file: String) -> (ShimFinding, isFinal: Bool) {
    (unknown("\(error): “\(file)”"), !csystem_is_out_of_descriptors(error.rawValue))
  }

  private func unknown(_ reason: String) -> ShimFinding {
    .unknown("it is not known if the command still runs: \(reason)")
  }

  /// Whether the shim, or a command whose shim was killed, is alive. It is `true` also if the system does not tell. A
  /// check of another process at the same moment has the same result.
  package var mayBeAlive: Bool {
    let lock = csystem_is_locked(shim)
    guard lock == 0 else { return !csystem_is_not_found(-lock) }
    do throws(Errno) {
      // The shim writes the exit status after the end of the command.
      guard try exitStatus == nil, let command = try processes.command else { return false }
      return command.presence != .gone
    } catch {
      return true
    }
  }
}
