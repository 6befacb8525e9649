// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import DemoWorkloads
package import MonitorClient
import OperationsCollector
import Synchronization

/// What is watched at present.
package struct WatchedSource: Sendable {
  /// Where its messages come from.
  let session: any MonitorSource
  /// The same where it is a recording; `nil` where it is not.
  var replay: ReplaySession? { session as? ReplaySession }
  /// The demo that runs in this process; `nil` where another process is watched.
  let workload: (any DemoWorkload)?
  /// Reached when the demo has come to its end; `nil` where there is none.
  let completion: Completion?

  /// Watches another process.
  package init(process session: any MonitorSource) {
    self.session = session
    workload = nil
    completion = nil
  }

  /// Watches a demo, which has not started.
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

  /// Watches it no more; a demo ends with that, which may take a while.
  func end() {
    session.invalidate()
    workload?.shutDown()
  }
}

/// Whether a workload has finished.
package final class Completion: Sendable {
  private let flag = Atomic(false)

  /// Creates one that is not reached.
  package init() {}

  /// Whether it has.
  var isReached: Bool { flag.load(ordering: .acquiring) }

  /// Notes that it has; twice is harmless.
  func reach() { flag.store(true, ordering: .releasing) }
}

extension MonitorSession: MonitorSource {}
