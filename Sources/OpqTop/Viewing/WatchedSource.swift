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
  /// What the dashboard shows when the demo has finished.
  let finishedReason: String
  /// The output of the jobs that run in this process; `nil` if the source has no jobs.
  let jobs: OutputReader.Jobs?

  /// Creates a source for another process or a recording.
  package init(process session: any MonitorSource) {
    self.session = session
    workload = nil
    completion = nil
    finishedReason = ""
    jobs = nil
  }

  /// Creates a source for a demo that has not started.
  init(
    demo workload: any DemoWorkload, session: any MonitorSource, waker: Waker,
    finishedReason: String = "the demo has finished", jobs: OutputReader.Jobs? = nil
  ) {
    self.session = session
    self.jobs = jobs
    self.finishedReason = finishedReason
    self.workload = workload
    let completion = Completion()
    self.completion = completion
    workload.whenFinished {
      completion.reach()
      waker.ring()
    }
  }

  /// Ends the session and the demo, if there is one. Ending a demo takes time.
  func end() {
    session.invalidate()
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
