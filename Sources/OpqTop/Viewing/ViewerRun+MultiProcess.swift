// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import MonitorClient
import MonitorProtocol

extension ViewerRun {
  /// Where the sockets of several processes are.
  ///
  /// - Throws: ``AttachError`` where one has none, or ``RepeatedTarget``.
  func paths(of targets: [AttachTarget]) throws -> [String] {
    var paths: [String] = []
    for target in targets {
      let path = try target.naming { try target.path() }
      guard !paths.contains(path) else { throw RepeatedTarget(target: target) }
      paths.append(path)
    }
    return paths
  }

  /// Watches several processes, all or none of them.
  ///
  /// - Throws: ``AttachError`` of the first that cannot be watched, ``RepeatedTarget``, or
  ///   ``SignalRequest`` where a signal comes before all have greeted.
  func watchProcesses(at paths: [String], named targets: [AttachTarget]) throws -> [RemoteSession] {
    // They greet side by side.
    let sessions = zip(paths, 1...).map { makeSession(at: $0, number: $1, count: paths.count) }
    do {
      var hellos: [Hello] = []
      for (target, session) in zip(targets, sessions) {
        let hello = try target.naming { try waitForGreeting(of: session) }
        // Two sockets of one process: its operations would be there twice.
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

  /// Several processes as one.
  func group(_ sessions: [RemoteSession]) -> ProcessGroup {
    ProcessGroup(sessions, interest: interest) { [waker] in waker.ring() }
  }

  /// Prints frames until there were enough, or until all processes have ended: at each moment one for
  /// every process.
  func printFrames(of sessions: [RemoteSession]) -> Ending {
    defer { for session in sessions { session.invalidate() } }
    return BatchLoop(
      sessions: sessions, waker: waker, watch: watch, completion: nil, options: view.batchOptions
    ).run()
  }
}

/// The same process is named twice.
struct RepeatedTarget: Error, CustomStringConvertible {
  let target: AttachTarget
  var description: String { "\(target) is named twice" }
}
