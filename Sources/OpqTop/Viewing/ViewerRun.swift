// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CursesTerminal
import Dashboard
import DemoWorkloads
import MonitorClient
import MonitorProtocol
import OperationsCollector
import Synchronization

/// A run of a viewer, from start to end: the dashboard or batch mode, with a demo or another
/// process.
struct ViewerRun {
  let view: ViewOptions
  let waker: Waker
  let watch: TerminationWatch

  /// Prepares a run. Must be called before the process has a second thread, because it blocks
  /// signals, and later threads inherit that.
  ///
  /// - Parameters:
  ///   - view: The options for the display.
  ///   - takesJobSignals: Whether there may be a dashboard, which handles stop and continue itself.
  /// - Throws: ``TerminalError`` if the system has no descriptors left.
  init(_ view: ViewOptions, takesJobSignals: Bool = true) throws(TerminalError) {
    self.view = view
    if takesJobSignals { JobSignals.block() }
    let waker = try Waker()
    self.waker = waker
    watch = TerminationWatch(ring: { waker.ring() }, restore: { Terminal.restoreNow() })
  }

  // MARK: Sources

  /// Creates a demo in this process, which has not started.
  ///
  /// - Throws: `WorkloadError`.
  func watchDemo(_ choice: DemoChoice, isInteractive: Bool) throws(WorkloadError) -> WatchedSource {
    let workload = try choice.demo.makeWorkload(choice.options(isInteractive: isInteractive))
    let session = MonitorSession(
      minimumInterval: view.batch ? batchInterval : FramePacer.defaultInterval,
      interest: interest,
      isReadOnly: view.isReadOnly
    ) { [waker] in waker.ring() }
    return WatchedSource(demo: workload, session: session, waker: waker)
  }

  /// Connects to another process.
  ///
  /// - Throws: ``AttachError``, or ``SignalRequest`` if a signal arrives before its greeting.
  func watchProcess(at path: String) throws -> WatchedSource {
    try greeted(by: makeSession(at: path))
  }

  /// Connects to a process. One of several processes gets its number and a share of the memory for
  /// operations.
  func makeSession(at path: String, number: Int? = nil, count: Int = 1) -> RemoteSession {
    RemoteSession(
      path: path, isReadOnly: view.isReadOnly, interest: interest(for: number),
      interval: view.batch ? batchInterval : RemoteSession.usualInterval,
      mostBytes: OperationLedger.mostBytes / count
    ) { [waker] in waker.ring() }
  }

  /// Waits for the greeting of a process.
  ///
  /// - Throws: ``AttachError``, or ``SignalRequest`` if a signal arrives before the greeting.
  func greeted(by session: RemoteSession) throws -> WatchedSource {
    try waitForGreeting(of: session)
    return WatchedSource(process: session)
  }

  /// Waits for the greeting of a process, and ends the session if there is none.
  ///
  /// - Throws: ``AttachError``, or ``SignalRequest`` if a signal arrives first.
  @discardableResult
  func waitForGreeting(of session: RemoteSession) throws -> Hello {
    let greeting = Mutex<Result<Hello, AttachError>?>(nil)
    session.whenGreeted { [waker] result in
      greeting.withLock { $0 = result }
      waker.ring()
    }
    do {
      while true {
        if let result = greeting.withLock({ $0 }) {
          return try result.get()
        }
        waker.wait(until: nil)
        if let signal = watch.takeRequest() { throw SignalRequest(signal: signal) }
      }
    } catch {
      session.invalidate()
      throw error
    }
  }

  /// Waits until a process listens.
  ///
  /// - Returns: The path of its socket.
  /// - Throws: ``AttachError`` if the process ends first, or ``SignalRequest`` if a signal arrives.
  func waitForSocket(of process: Int32) throws -> String {
    var wasThere = false
    while true {
      do throws(AttachError) {
        return try AttachTarget.process(process).path()
      } catch {
        // The process need not exist yet.
        guard error.kind == .nothingThere else { throw error }
      }
      let isThere = ProcessStart(of: process) != nil
      if wasThere, !isThere {
        throw AttachError(.lost, "process \(process) ended before it could be monitored")
      }
      wasThere = isThere
      waker.wait(until: .now + .milliseconds(100))
      if let signal = watch.takeRequest() { throw SignalRequest(signal: signal) }
    }
  }

  /// A signal that requests the end of the program arrived during a wait.
  struct SignalRequest: Error {
    let signal: Int32
  }

  /// The first interest of the viewer.
  var interest: Interest { interest(for: nil) }

  /// Returns the first interest for one of several processes by its number.
  private func interest(for number: Int?) -> Interest {
    var interest = view.batch ? view.batchOptions.interest(for: number) : Interest()
    interest.warningKinds = view.warningKinds
    return interest
  }

  private var batchInterval: Duration { min(view.batchOptions.interval, BatchLoop.firstFrameDelay) }

  // MARK: Display

  /// Shows the dashboard until the user quits.
  ///
  /// - Parameters:
  ///   - first: The first source and its name; `nil` if the user has not chosen one yet.
  ///   - demo: The demo that runs, or that the user can choose.
  ///   - recorder: The recorder of the source; `nil` if nothing is recorded.
  /// - Returns: How the process has to end.
  /// - Throws: ``TerminalError``, before anything was shown.
  func showDashboard(
    of first: (WatchedSource, Source)?, demo: DemoChoice, recorder: Recorder? = nil
  ) throws -> Ending {
    let terminal = try Terminal(view.terminalOptions)
    let signals = try JobSignals()
    let opener = SourceOpener(waker: waker, isReadOnly: view.isReadOnly) {
      let watched = try watchDemo(demo, isInteractive: true)
      watched.workload?.start()
      return watched
    }
    let dashboard = Dashboard(
      configuration: .init(
        source: first?.1, title: demo.demo.name, guidance: demo.demo.guidance,
        isReadOnly: view.isReadOnly, asksBeforeCancellingByKey: false,
        warningKinds: view.warningKinds))
    let loop = DashboardLoop(
      terminal: terminal, signals: signals, dashboard: dashboard, watched: first?.0,
      opener: opener, waker: waker, watch: watch, tellsFrameTimes: view.tellsFrameTimes,
      recorder: recorder)
    first?.0.workload?.start()
    let (ending, watched, frameTimes) = loop.run()
    let recording = recorder?.finish()
    watched?.end()
    opener.finish()
    if let frameTimes { StandardStream.error.write("opq-top: \(frameTimes)\n") }
    return report(recording, after: reportFailure(of: watched, after: ending))
  }

  /// Prints frames until their number is reached, or until the source has ended.
  func printFrames(of watched: WatchedSource, recorder: Recorder? = nil) -> Ending {
    defer { watched.end() }
    watched.workload?.start()
    let loop = BatchLoop(
      sessions: [watched.session], waker: waker, watch: watch, completion: watched.completion,
      options: view.batchOptions)
    let ending = loop.run()
    return report(recorder?.finish(), after: reportFailure(of: watched, after: ending))
  }

  /// Runs a demo with an end, without a display.
  func runToTheEnd(_ watched: WatchedSource, recorder: Recorder? = nil) -> Ending {
    defer { watched.end() }
    watched.workload?.start()
    while let completion = watched.completion, !completion.isReached {
      waker.wait(until: nil)
      if let signal = watch.takeRequest() {
        recorder?.finish()
        return .signal(signal)
      }
    }
    return report(recorder?.finish(), after: reportFailure(of: watched, after: .status(0)))
  }

  /// Reports, after a successful run, what a demo could not do.
  private func reportFailure(of watched: WatchedSource?, after ending: Ending) -> Ending {
    guard ending == .status(0), let failure = watched?.workload?.failure else { return ending }
    return Program.fail("\(failure)", status: 1)
  }
}
