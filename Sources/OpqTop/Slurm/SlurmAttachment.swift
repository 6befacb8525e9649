// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import MonitorClient
import MonitorProtocol
import OperationsCommands
import Synchronization

/// Shows the jobs of a Slurm cluster.
struct SlurmAttachment {
  let place: SlurmPlace
  let users: SlurmWatch.Users
  let view: ViewOptions

  /// Shows the jobs until the user quits, or prints frames.
  ///
  /// - Returns: How this process must end.
  func ending() -> Ending {
    guard view.batch || Program.hasTerminal else {
      return Program.fail("\(TerminalError(.notATerminal)); use --batch")
    }
    do {
      // The run must be created before any other thread, because it blocks signals.
      let run = try ViewerRun(view)
      let session = SlurmSession(
        place, users: users, isReadOnly: view.isReadOnly || view.batch, endsOnLoss: view.batch,
        interest: run.interest
      ) { [waker = run.waker] in waker.ring() }
      // An ssh of the session must not outlive this process.
      defer { session.end() }
      try waitForGreeting(of: session, run)
      let watched = WatchedSource(process: session)
      if view.batch { return try run.printFrames(of: watched) }
      return try run.showDashboard(of: (watched, .process(place.argument)), demo: DemoChoice())
    } catch let request as ViewerRun.SignalRequest {
      return .signal(request.signal)
    } catch {
      return Program.fail(error)
    }
  }

  private func waitForGreeting(of session: SlurmSession, _ run: ViewerRun) throws {
    let greeting = Mutex<Result<Hello, AttachError>?>(nil)
    session.whenGreeted { [waker = run.waker] result in
      greeting.withLock { $0 = result }
      waker.ring()
    }
    while true {
      if let result = greeting.withLock({ $0 }) {
        _ = try result.get()
        return
      }
      run.waker.wait(until: nil)
      if let signal = run.watch.takeRequest() { throw ViewerRun.SignalRequest(signal: signal) }
    }
  }
}
