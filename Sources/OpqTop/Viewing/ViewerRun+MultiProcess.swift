// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorClient
import MonitorProtocol

extension ViewerRun {
  /// Watches several processes together. If one of them cannot be watched, none is watched.
  ///
  /// - Throws: ``AttachError`` for the first process that cannot be watched, ``RepeatedTarget`` if
  ///   two targets are the same process, or ``SignalRequest`` if a signal arrives before all
  ///   greetings.
  func watchProcesses(
    _ processes: [LocatedProcess], named targets: [PlacedTarget]
  ) throws -> [RemoteSession] {
    // All sessions are opened before the first wait, so that the processes send their greetings
    // concurrently.
    let sessions = zip(processes, 1...).map {
      makeSession(with: $0, number: $1, count: processes.count)
    }
    do {
      var hellos: [Hello] = []
      for (target, session) in zip(targets, sessions) {
        let hello = try target.naming { try waitForGreeting(of: session) }
        // If two sockets belong to the same process, its operations would be shown twice.
        if hellos.contains(where: { $0.isSameProcess(as: hello) }) {
          throw RepeatedTarget(target: target)
        }
        hellos.append(hello)
      }
    } catch {
      for session in sessions { session.invalidate() }
      throw error
    }
    return sessions
  }

  /// Combines several processes into one source.
  func group(_ sessions: [RemoteSession]) -> ProcessGroup {
    ProcessGroup(sessions, interest: interest) { [waker] in waker.ring() }
  }

  /// Prints frames until the requested number is reached, or until all processes have ended. At
  /// each moment it prints one frame for each process.
  ///
  /// - Parameters:
  ///   - sessions: The sessions with the processes.
  ///   - namesHost: Whether one of the processes runs on another machine.
  /// - Returns: How this process must end.
  func printFrames(of sessions: [RemoteSession], namesHost: Bool) -> Ending {
    defer { for session in sessions { session.invalidate() } }
    var loop = BatchLoop(
      sessions: sessions, waker: waker, watch: watch, completion: nil, options: view.batchOptions)
    loop.namesHost = namesHost
    return loop.run()
  }
}

/// The error that the command line names the same process twice.
struct RepeatedTarget: Error, CustomStringConvertible {
  let target: PlacedTarget
  var description: String { "\(target) is given twice" }
}
