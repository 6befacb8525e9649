// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import DemoWorkloads
import MonitorProtocol
import OperationsMonitor
import Synchronization

/// A demo workload together with who watches it, from start to end.
struct DemoRun {
  private let isReadOnly: Bool
  private let warningKinds: Set<MonitorWarning.Kind>
  private let waker: Waker
  private let watch: TerminationWatch

  /// Makes ready. To be called before the process has a second thread.
  ///
  /// - Parameters:
  ///   - isReadOnly: Whether viewers give no commands.
  ///   - warningKinds: What they are warned of.
  /// - Throws: ``TerminalError`` where the system has no descriptor left.
  init(isReadOnly: Bool, warningKinds: Set<MonitorWarning.Kind>) throws(TerminalError) {
    self.isReadOnly = isReadOnly
    self.warningKinds = warningKinds
    JobSignals.block()
    let waker = try Waker()
    self.waker = waker
    watch = TerminationWatch(ring: { waker.ring() }, restore: { Terminal.restoreNow() })
  }

  /// Shows the dashboard until the user quits.
  ///
  /// - Throws: `TerminalError` or `WorkloadError`, before anything was shown.
  func showDashboard(
    of demo: Demo, _ options: WorkloadOptions, terminalOptions: Terminal.Options,
    tellsFrameTimes: Bool
  ) throws -> Ending {
    let workload = try demo.makeWorkload(options)
    defer { workload.shutDown() }
    let terminal = try Terminal(terminalOptions)
    let signals = try JobSignals()
    let session = session(interval: FramePacer.defaultInterval)
    defer { session.invalidate() }
    let dashboard = Dashboard(
      configuration: .init(
        title: demo.name, guidance: demo.guidance, isReadOnly: isReadOnly,
        runsWorkload: true, asksBeforeCancellingByKey: false, warningKinds: warningKinds))
    let loop = EventLoop(
      terminal: terminal, signals: signals, dashboard: dashboard, session: session, waker: waker,
      watch: watch, completion: whenFinished(workload), tellsFrameTimes: tellsFrameTimes)
    workload.start()
    let (ending, frameTimes) = loop.run()
    if let frameTimes { StandardStream.error.write("opq-top: \(frameTimes)\n") }
    return reportFailure(of: workload, after: ending)
  }

  /// Prints frames until there were as many as wanted, or until the workload has finished.
  ///
  /// - Throws: `WorkloadError`, before anything was printed.
  func printFrames(
    of demo: Demo, _ options: WorkloadOptions, _ batch: BatchOptions
  ) throws -> Ending {
    let workload = try demo.makeWorkload(options)
    defer { workload.shutDown() }
    let session = session(
      interval: min(batch.interval, BatchLoop.firstFrameDelay), interest: batch.interest)
    defer { session.invalidate() }
    let completion = whenFinished(workload)
    workload.start()
    let loop = BatchLoop(
      session: session, waker: waker, watch: watch, completion: completion, options: batch)
    return reportFailure(of: workload, after: loop.run())
  }

  /// Runs a workload that has an end, without showing anything.
  ///
  /// - Throws: `WorkloadError`, before it has started.
  func runToTheEnd(_ demo: Demo, _ options: WorkloadOptions) throws -> Ending {
    let workload = try demo.makeWorkload(options)
    defer { workload.shutDown() }
    let completion = whenFinished(workload)
    workload.start()
    while !completion.isReached {
      waker.wait(until: nil)
      if let signal = watch.takeRequest() { return .signal(signal) }
    }
    return reportFailure(of: workload, after: .status(0))
  }

  /// Says after a run that ended well what it could not do.
  private func reportFailure(of workload: any DemoWorkload, after ending: Ending) -> Ending {
    guard ending == .status(0), let failure = workload.failure else { return ending }
    return Program.fail("\(failure)", status: 1)
  }

  private func session(interval: Duration, interest: Interest = Interest()) -> MonitorSession {
    var interest = interest
    interest.warningKinds = warningKinds
    return MonitorSession(minimumInterval: interval, interest: interest, isReadOnly: isReadOnly) {
      [waker] in waker.ring()
    }
  }

  private func whenFinished(_ workload: any DemoWorkload) -> Completion {
    let completion = Completion()
    workload.whenFinished { [waker] in
      completion.reach()
      waker.ring()
    }
    return completion
  }
}

/// Whether a workload has finished.
final class Completion: Sendable {
  private let flag = Atomic(false)

  /// Whether it has.
  var isReached: Bool { flag.load(ordering: .acquiring) }

  /// Notes that it has; twice is harmless.
  func reach() { flag.store(true, ordering: .releasing) }
}
