// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorClient
import MonitorProtocol

extension ViewerRun {
  /// Returns the paths of the sockets of several processes.
  ///
  /// - Throws: ``AttachError`` if a process has no socket, or ``RepeatedTarget`` if two targets are
  ///   the same process.
  func paths(of targets: [AttachTarget]) throws -> [String] {
    var paths: [String] = []
    for target in targets {
      let path = try target.naming { try target.path() }
      guard !paths.contains(path) else { throw RepeatedTarget(target: target) }
      paths.append(path)
    }
    return paths
  }

  /// Watches several processes together. If one of them cannot be watched, none is watched.
  ///
  /// - Throws: ``AttachError`` for the first process that cannot be watched, ``RepeatedTarget`` if
  ///   two targets are the same process, or ``SignalRequest`` if a signal arrives before all
  ///   greetings.
  func watchProcesses(at paths: [String], named targets: [AttachTarget]) throws -> [RemoteSession] {
    // All sessions are opened before the first wait, so that the processes send their greetings
    // concurrently.
    let sessions = zip(paths, 1...).map { makeSession(at: $0, number: $1, count: paths.count) }
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
  func printFrames(of sessions: [RemoteSession]) -> Ending {
    defer { for session in sessions { session.invalidate() } }
    return BatchLoop(
      sessions: sessions, waker: waker, watch: watch, completion: nil, options: view.batchOptions
    ).run()
  }
}

/// The error that the command line names the same process twice.
struct RepeatedTarget: Error, CustomStringConvertible {
  let target: AttachTarget
  var description: String { "\(target) is given twice" }
}
