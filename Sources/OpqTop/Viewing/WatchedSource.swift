// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import DemoWorkloads
package import MonitorProtocol
import OperationsCollector
import Synchronization

/// The source that the program watches, with its session and its demo.
package struct WatchedSource: Sendable {
  /// The session that sends the messages of the source.
  let session: any MonitorSource
  /// The session, if the source is a recording; otherwise `nil`.
  var replay: ReplaySession? { session as? ReplaySession }
  /// The demo that runs in this process; `nil` if another process is watched.
  let workload: (any DemoWorkload)?
  /// Whether the demo has finished; `nil` if no demo runs in this process.
  let completion: Completion?
  /// The run whose jobs the process executes; `nil` if it is not known that the process executes a run.
  let run: WatchedRun?
  /// A closure that is called when the source ends. It releases the links to other machines.
  private let release: @Sendable () -> Void
  /// Whether the process executes the jobs of a run on another machine.
  var runsJobsElsewhere = false

  /// Creates a source for another process or a recording.
  package init(process session: any MonitorSource) { self.init(process: session, run: nil) }

  /// Creates a source for another process.
  ///
  /// - Parameters:
  ///   - session: The session with the process.
  ///   - run: The run whose jobs the process executes; `nil` if it is not known that the process executes a run.
  ///   - release: A closure that is called on some thread when the source ends. It releases the links to other machines.
  init(
    process session: any MonitorSource, run: WatchedRun?,
    release: @escaping @Sendable () -> Void = {}
  ) {
    self.session = session
    self.run = run
    self.release = release
    workload = nil
    completion = nil
  }

  /// Creates a source for a demo that has not started.
  init(demo workload: any DemoWorkload, session: any MonitorSource, waker: Waker) {
    self.session = session
    self.workload = workload
    run = nil
    release = {}
    let completion = Completion()
    self.completion = completion
    workload.whenFinished {
      completion.reach()
      waker.ring()
    }
  }

  /// Ends the session and, if there is one, the demo, and releases the links. Ending a demo takes time.
  func end() {
    session.invalidate()
    release()
    workload?.shutDown()
  }
}

/// A flag that is set when a workload has finished.
package final class Completion: Sendable {
  private let flag = Atomic(false)

  /// Creates a flag that is not set.
  package init() {}

  /// Whether the workload has finished.
  var isReached: Bool { flag.load(ordering: .acquiring) }

  /// Sets the flag. Further calls have no effect.
  func reach() { flag.store(true, ordering: .releasing) }
}
