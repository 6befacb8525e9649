// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import DemoWorkloads
package import MonitorClient
import OperationsCollector
import Synchronization

/// The source that is watched at present.
package struct WatchedSource: Sendable {
  /// The session from which its messages come.
  let session: any MonitorSource
  /// The session, if it is a recording; otherwise `nil`.
  var replay: ReplaySession? { session as? ReplaySession }
  /// The demo that runs in this process; `nil` if another process is watched.
  let workload: (any DemoWorkload)?
  /// Reached when the demo has finished; `nil` if there is no demo.
  let completion: Completion?

  /// Creates the source for another process.
  package init(process session: any MonitorSource) {
    self.session = session
    workload = nil
    completion = nil
  }

  /// Creates the source for a demo, which has not started.
  init(demo workload: any DemoWorkload, session: any MonitorSource, waker: Waker) {
    self.session = session
    self.workload = workload
    let completion = Completion()
    self.completion = completion
    workload.whenFinished {
      completion.reach()
      waker.ring()
    }
  }

  /// Ends the session, and the demo if there is one, which may take time.
  func end() {
    session.invalidate()
    workload?.shutDown()
  }
}

/// Whether a workload has finished.
package final class Completion: Sendable {
  private let flag = Atomic(false)

  /// Creates a value that is not reached.
  package init() {}

  /// Whether the workload has finished.
  var isReached: Bool { flag.load(ordering: .acquiring) }

  /// Notes that the workload has finished. Further calls have no effect.
  func reach() { flag.store(true, ordering: .releasing) }
}

extension MonitorSession: MonitorSource {}
