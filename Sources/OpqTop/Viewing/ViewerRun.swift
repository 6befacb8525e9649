// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import COperationsSystem
import CursesTerminal
import Dashboard
import DemoWorkloads
import MonitorClient
import MonitorProtocol
import OperationsCollector
import Synchronization

/// A run of a viewer, from its start to its end. The viewer is the dashboard or batch mode, and
/// shows a demo, a process or a recording.
struct ViewerRun {
  let view: ViewOptions
  /// The options that record the source; `nil` if the command has no such options.
  let recording: RecordingOptions?
  let waker: Waker
  let watch: TerminationWatch
  /// The links to other machines. The code that creates the run must close them before the program ends.
  let links = RelayLinks()

  /// Prepares a run. The caller must do this before the process has a second thread: the run blocks
  /// signals, and threads that are created later inherit the blocked signals.
  ///
  /// - Parameters:
  ///   - view: The options for the display.
  ///   - recording: The options that record the source; `nil` if the command has no such options.
  ///   - takesJobSignals: Whether the run also handles the signals that stop and continue the
  ///     process, as the dashboard needs.
  ///   - takesQuitSignal: Whether the run also handles `SIGQUIT`, to pass it on to a command or to end jobs.
  /// - Throws: ``TerminalError`` if the system has no free descriptors.
  init(
    _ view: ViewOptions, recording: RecordingOptions? = nil, takesJobSignals: Bool = true,
    takesQuitSignal: Bool = false
  ) throws(TerminalError) {
    self.view = view
    self.recording = recording
    if takesJobSignals { JobSignals.block() }
    let waker = try Waker()
    self.waker = waker
    watch = TerminationWatch(
      others: takesQuitSignal ? [cmonitor_signal_quit] : [], ring: { waker.ring() },
      restore: { Terminal.restoreNow() })
  }

  // MARK: Sources

  /// Creates a demo in this process. The demo has not started.
  ///
  /// - Throws: `WorkloadError` if the demo cannot be created.
  func watchDemo(_ choice: DemoChoice, isInteractive: Bool) throws(WorkloadError) -> WatchedSource {
    let workload = try choice.demo.makeWorkload(choice.options(isInteractive: isInteractive))
    let session = MonitorSession(
      minimumInterval: view.batch ? batchInterval : FramePacer.defaultInterval,
      interest: interest, isReadOnly: view.isReadOnly,
      // The cause of a cancellation is then the dashboard, and not the code of the demo.
      origin: CommandOrigin(processID: csystem_process_id(), userID: cmonitor_user_id())
    ) { [waker] in waker.ring() }
    return WatchedSource(demo: workload, session: session, waker: waker)
  }

  /// Connects to another process.
  ///
  /// - Parameters:
  ///   - process: The process.
  ///   - run: The run whose jobs the process executes; `nil` if none is known.
  /// - Returns: The process as a source.
  /// - Throws: ``AttachError`` if the process cannot be watched, or ``SignalRequest`` if a signal
  ///   arrives before the process's greeting.
  func watchProcess(_ process: LocatedProcess, run: WatchedRun? = nil) throws -> WatchedSource {
    let session = makeSession(with: process)
    try process.naming { _ = try waitForGreeting(of: session) }
    return WatchedSource(process: session, run: run) { [links] in links.release(process.link) }
  }

  /// Creates a session with a process. If several processes are watched, the session gets the
  /// process's number and a part of the memory for operations. A held session requests no data
  /// before it is started.
  func makeSession(
    with process: LocatedProcess, number: Int? = nil, count: Int = 1, isHeld: Bool = false
  ) -> RemoteSession {
    RemoteSession(
      // Batch mode sends no commands. A process that waits for the viewers that send commands must not wait for it.
      process.address, isReadOnly: view.isReadOnly || view.batch, interest: interest(for: number),
      interval: view.batch ? batchInterval : RemoteSession.usualInterval,
      mostBytes: OperationLedger.mostBytes / count, isHeld: isHeld
    ) { [waker] in waker.ring() }
  }

  /// Waits for the greeting of a process.
  ///
  /// - Throws: ``AttachError`` if the process cannot be watched, or ``SignalRequest`` if a signal
  ///   arrives before its greeting.
  func greeted(by session: RemoteSession) throws -> WatchedSource {
    try waitForGreeting(of: session)
    return WatchedSource(process: session)
  }

  /// Waits for the greeting of a process. If no greeting arrives, ends the session.
  ///
  /// - Throws: ``AttachError`` if the process cannot be watched, or ``SignalRequest`` if a signal
  ///   arrives before its greeting.
  @discardableResult
  func waitForGreeting(of session: RemoteSession) throws -> Hello {
    do {
      return try awaited { session.whenGreeted($0) }
    } catch {
      session.invalidate()
      throw error
    }
  }

  /// Waits for an answer that another thread gives.
  ///
  /// - Parameter ask: A closure that requests the answer. Its argument is the closure to call with the answer.
  /// - Returns: The answer.
  /// - Throws: ``AttachError`` if this is the answer, or ``SignalRequest`` if a signal arrives before the answer.
  func awaited<Value: Sendable>(
    _ ask: (@escaping @Sendable (Result<Value, AttachError>) -> Void) -> Void
  ) throws -> Value {
    let answer = Mutex<Result<Value, AttachError>?>(nil)
    ask { [waker] result in
      answer.withLock { $0 = result }
      waker.ring()
    }
    while true {
      if let result = answer.withLock({ $0 }) { return try result.get() }
      waker.wait(until: nil)
      if let signal = watch.takeRequest() { throw SignalRequest(signal: signal) }
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
        // While the program waits for the process, a missing socket is not an error, because the
        // process may start later.
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

  /// The error that a wait was ended by a signal that requests the end of the program.
  struct SignalRequest: Error {
    let signal: Int32
  }

  /// The interest with which the viewer begins: the data that it requests at first.
  var interest: Interest { interest(for: nil) }

  /// Returns the interest (the requested data) with which the viewer begins to watch the process
  /// with this number.
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
  ///   - first: The first source and its name; `nil` if the user has to choose a source.
  ///   - demo: The demo that runs, or that the user can choose in the picker.
  ///   - recorder: The recorder of the source; `nil` if nothing is recorded.
  ///   - place: The other machine of the first source, whose processes the picker lists; `nil` for this machine.
  ///   - link: A link to all processes of that machine, which then belongs to the picker; `nil` if there is none.
  ///   - launchHint: The hint for a process that this program has started; empty for a general hint.
  /// - Returns: How the process must end.
  /// - Throws: ``TerminalError`` if nothing can be shown, or ``FileError`` if the file of the
  ///   recording cannot be created.
  func showDashboard(
    of first: (WatchedSource, Source)?, demo: DemoChoice, recorder: Recorder? = nil,
    place: RemotePlace? = nil, link: RelayLink? = nil, launchHint: String = ""
  ) throws -> Ending {
    let file = SettingsFile.ofUser
    let (settings, remark) = startSettings(of: file)
    var options = view.terminalOptions
    options.theme = settings.theme
    let terminal = try Terminal(options)
    let signals = try JobSignals()
    // The recording begins only if the dashboard can be shown, because it may overwrite a file.
    try begin(recorder)
    let run = first?.0.run
    let opener = SourceOpener(
      waker: waker, isReadOnly: view.isReadOnly, run: run,
      search: RemoteSearch(place, links, link)
    ) {
      let watched = try watchDemo(demo, isInteractive: true)
      watched.workload?.start()
      return watched
    }
    // The default demo is the first program that a new user sees, so the dashboard shows its general hint
    // about the keys.
    let dashboard = Dashboard(
      configuration: .init(
        source: first?.1, title: run?.title ?? demo.demo.name,
        guidance: demo.demo == .tiles ? "" : demo.demo.guidance, launchHint: launchHint,
        isReadOnly: view.isReadOnly, runsJobs: run != nil, host: place?.name ?? "",
        runsJobsElsewhere: first?.0.runsJobsElsewhere == true,
        isUnicode: terminal.capabilities.isUnicode, warningKinds: view.warningKinds,
        settings: settings, settingsRemark: remark))
    let loop = DashboardLoop(
      terminal: terminal, signals: signals, dashboard: dashboard, watched: first?.0,
      opener: opener, waker: waker, watch: watch, reportsFrameTimes: view.reportsFrameTimes,
      recorder: recorder, settingsFile: file)
    first?.0.workload?.start()
    let (ending, watched, frameTimes) = loop.run()
    let recording = recorder?.finish()
    watched?.end()
    opener.finish()
    if let frameTimes { StandardStream.error.write("opq-top: \(frameTimes)\n") }
    return report(recording, after: reportFailure(of: watched, after: ending))
  }

  /// Returns the settings with which the dashboard starts, and a sentence about mistakes in the settings file, which is
  /// empty if there are none.
  private func startSettings(
    of file: SettingsFile?
  ) -> (settings: DashboardSettings, remark: String) {
    var (settings, remark) = file?.read() ?? (DashboardSettings(), "")
    // The option that requires colors has priority over the file.
    if view.color == .always, settings.theme == .none { settings.theme = .automatic }
    view.dashboard.apply(to: &settings)
    return (settings, remark)
  }

  /// Prints frames until the requested number is reached, or until the source has ended.
  ///
  /// - Throws: ``FileError`` if the file of the recording cannot be created.
  func printFrames(
    of watched: WatchedSource, recorder: Recorder? = nil
  ) throws(FileError) -> Ending {
    defer { watched.end() }
    try begin(recorder)
    watched.workload?.start()
    let loop = BatchLoop(
      sessions: [watched.session], waker: waker, watch: watch, completion: watched.completion,
      options: view.batchOptions)
    let ending = loop.run()
    return report(recorder?.finish(), after: reportFailure(of: watched, after: ending))
  }

  /// Runs a demo until it has finished, without a display.
  ///
  /// - Throws: ``FileError`` if the file of the recording cannot be created.
  func runToTheEnd(
    _ watched: WatchedSource, recorder: Recorder? = nil
  ) throws(FileError) -> Ending {
    defer { watched.end() }
    try begin(recorder)
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

  /// Reports the error of a demo, if the run was otherwise successful.
  private func reportFailure(of watched: WatchedSource?, after ending: Ending) -> Ending {
    guard ending == .status(0), let failure = watched?.workload?.failure else { return ending }
    return Program.fail("\(failure)", status: 1)
  }
}
