// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorClient
import MonitorProtocol

extension ViewerRun {
  /// Returns the paths of the sockets of several processes.
  ///
  /// - Throws: ``AttachError`` if a process has none, or ``RepeatedTarget``.
  func paths(of targets: [AttachTarget]) throws -> [String] {
    var paths: [String] = []
    for target in targets {
      let path = try target.naming { try target.path() }
      guard !paths.contains(path) else { throw RepeatedTarget(target: target) }
      paths.append(path)
    }
    return paths
  }

  /// Watches several processes. If one fails, none is watched.
  ///
  /// - Throws: ``AttachError`` of the first process that cannot be watched, ``RepeatedTarget``, or
  ///   ``SignalRequest`` if a signal arrives before all have sent their greeting.
  func watchProcesses(at paths: [String], named targets: [AttachTarget]) throws -> [RemoteSession] {
    // The processes send their greetings concurrently.
    let sessions = zip(paths, 1...).map { makeSession(at: $0, number: $1, count: paths.count) }
    do {
      var hellos: [Hello] = []
      for (target, session) in zip(targets, sessions) {
        let hello = try target.naming { try waitForGreeting(of: session) }
        // Two sockets of one process would show its operations twice.
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

  /// Groups several processes into one source.
  func group(_ sessions: [RemoteSession]) -> ProcessGroup {
    ProcessGroup(sessions, interest: interest) { [waker] in waker.ring() }
  }

  /// Prints frames until their number is reached, or until all processes have ended: at each moment
  /// one frame per process.
  func printFrames(of sessions: [RemoteSession]) -> Ending {
    defer { for session in sessions { session.invalidate() } }
    return BatchLoop(
      sessions: sessions, waker: waker, watch: watch, completion: nil, options: view.batchOptions
    ).run()
  }
}

/// The same process was given twice.
struct RepeatedTarget: Error, CustomStringConvertible {
  let target: AttachTarget
  var description: String { "\(target) is given twice" }
}
