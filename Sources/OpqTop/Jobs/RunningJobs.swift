// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import Dashboard
import DemoWorkloads
import Dispatch
import JobFiles
import JobRun
import MonitorProtocol
import OperationsCollector
import OperationsMonitor
import Synchronization

/// The jobs of a file that this program runs, with their display.
struct RunningJobs {
  private let jobs: JobRun
  private let viewer: ViewerRun
  private let completion = Completion()
  private let signals: ReceivedSignal
  private let begin = ContinuousClock.now
  /// The session that keeps the operations of ended jobs, so that viewers that attach later can show them.
  private let keeper: MonitorSession

  /// Runs a plan to its end.
  ///
  /// - Parameters:
  ///   - plan: The jobs.
  ///   - options: The choices of the run.
  ///   - display: The options for the display.
  ///   - title: The name of the file, for the dashboard. It is unsanitised.
  /// - Returns: How the process must end.
  /// - Throws: ``TerminalError``, or `JobLogs.Failure` if nothing was started.
  static func run(
    _ plan: JobPlan, _ options: JobRun.Options, _ display: RunDisplayOptions, title: String
  ) throws -> Ending {
    let showsDashboard = Program.hasTerminal && !display.batch
    // The run of the viewer must be created before any other thread: it blocks signals, and threads that are created
    // later inherit the blocked signals. Commands do not inherit them.
    let viewer = try ViewerRun(
      display.view, takesJobSignals: showsDashboard, takesQuitSignal: true)
    var options = options
    options.keepsEvents = !showsDashboard
    let logs = try JobLogs()
    listen(isQuiet: showsDashboard)
    let running = RunningJobs(
      JobRun(plan, logs: logs, options: options) { viewer.waker.ring() }, viewer,
      showsDashboard: showsDashboard)
    do {
      let ending = try showsDashboard ? running.showDashboard(title: title) : running.printLines()
      return running.report(ending, isOnTerminal: showsDashboard)
    } catch {
      logs.deleteIfEmpty()
      throw error
    }
  }

  private init(_ jobs: JobRun, _ viewer: ViewerRun, showsDashboard: Bool) {
    self.jobs = jobs
    self.viewer = viewer
    keeper = Self.keeper()
    let signals = ReceivedSignal()
    self.signals = signals
    // Signals do not end this program before its jobs. The watch would end it after some seconds.
    viewer.watch.passOn { [completion] signal, _ in
      let isKey = [cmonitor_signal_interrupt, cmonitor_signal_quit].contains(signal)
      // If the user has closed the dashboard and waits for the jobs, the first Ctrl-C kills the commands.
      let isClosed = signals.first == nil && jobs.isCancelled && !Terminal.isOpen
      guard !(isClosed && isKey), signals.note(signal) else {
        if completion.isReached { Self.endProcess(of: jobs, by: signals.first ?? signal) }
        // A closed terminal can send SIGHUP several times, so only the signals of keys kill the commands.
        if isKey { DispatchQueue.global().async { jobs.endGracePeriods() } }
        return .done
      }
      // The loop may be blocked in a write, so it does not end the jobs.
      DispatchQueue.global().async { Self.end(jobs, by: signal, announces: !showsDashboard) }
      return .requestsEnd
    }
    if let signal = viewer.watch.takeRequest() {
      signals.note(signal)
      Self.end(jobs, by: signal, announces: !showsDashboard)
    }
    jobs.whenFinished { [completion, signals] in
      completion.reach()
      viewer.waker.ring()
      guard let signal = signals.first else { return }
      // The loop may be blocked in a write. Then it does not end this process.
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(5)) {
        Self.endProcess(of: jobs, by: signal)
      }
    }
  }

  /// Ends the jobs because a signal has arrived.
  private static func end(_ jobs: JobRun, by signal: Int32, announces: Bool) {
    jobs.cancel(RunWasCancelled("the run was ended by signal \(signal)"))
    if announces { announceEnd(of: jobs, "signal \(signal): ") }
  }

  /// Prints that the running jobs take time to end.
  fileprivate static func announceEnd(of jobs: JobRun, _ reason: String = "") {
    let count = jobs.runningCount
    guard count > 0 else { return }
    let words = count == 1 ? "the running job" : "\(count) running jobs"
    StandardStream.error.write(
      Program.errorLine("\(reason)ending \(words); press Ctrl-C to kill the commands"))
  }

  private static func endProcess(of jobs: JobRun, by signal: Int32) -> Never {
    jobs.deleteEmptyLogs()
    Terminal.restoreNow()
    cmonitor_exit(128 + signal)
  }

  /// Opens a session that keeps the operations of ended jobs. Its messages are not read.
  private static func keeper() -> MonitorSession {
    var interest = Interest(rowLimit: 0)
    interest.warningKinds = []
    let isWatching = DispatchSemaphore(value: 0)
    let session = MonitorSession(
      minimumInterval: .milliseconds(100), interest: interest, isReadOnly: true,
      keepsFinishedOperations: true
    ) { isWatching.signal() }
    // A job that ends before the first update would not be known. The limit is a last resort.
    _ = isWatching.wait(timeout: .now() + .seconds(5))
    return session
  }

  /// Lets viewers attach to this process, unless the environment decides about it.
  ///
  /// - Parameter isQuiet: Whether the commands of viewers are not logged, because a line would damage the dashboard.
  private static func listen(isQuiet: Bool) {
    guard !OperationMonitor.isDecidedByEnvironment else { return }
    do {
      try OperationMonitor.listen(
        mode: .readWrite, logger: isQuiet ? OperationMonitor.silentLogger : nil)
    } catch {
      StandardStream.error.write(
        Program.errorLine("other processes cannot attach to this run: \(error)"))
    }
  }

  /// Prints a line for each start and each end until all jobs have ended.
  private func printLines() -> Ending {
    let text = RunText(plan: jobs.plan, isUnicode: !viewer.view.ascii)
    var failure: Int32 = 0
    jobs.start()
    while true {
      let isOver = completion.isReached
      // A reader that has closed the output does not end the jobs.
      let lines = text.lines(of: jobs.takeEvents())
      if failure == 0, !lines.isEmpty { failure = StandardStream.output.write(lines) }
      if isOver { break }
      viewer.waker.wait(until: nil)
    }
    guard failure != 0, failure != StandardStream.brokenPipe else { return .status(0) }
    return Program.failToWrite(failure)
  }

  /// Shows the dashboard until the user closes it, and then ends the jobs that have not ended.
  private func showDashboard(title: String) throws -> Ending {
    let session = MonitorSession(
      minimumInterval: FramePacer.defaultInterval, interest: viewer.interest,
      isReadOnly: viewer.view.isReadOnly
    ) { [waker = viewer.waker] in waker.ring() }
    let watched = WatchedSource(
      demo: JobWorkload(jobs), session: session, waker: viewer.waker,
      finishedReason: "all jobs have ended",
      jobs: { [jobs] name in
        jobs.index(ofJob: name).map { index in
          JobOutput(
            attemptCount: { jobs.attemptCount(of: index) },
            path: { jobs.outputFile(of: index, attempt: $0) })
        }
      })
    return try viewer.showDashboard(of: (watched, .demo), demo: DemoChoice(), jobsTitle: title)
  }

  /// Prints the summary, and returns how the process must end.
  private func report(_ ending: Ending, isOnTerminal: Bool) -> Ending {
    let counts = jobs.counts
    let place = jobs.deleteEmptyLogs() ? nil : jobs.logs.path
    let summary = RunText.summary(counts, duration: begin.duration(to: .now), logs: place)
    let error = StandardStream.output.write(
      RunText.shown(summary, isUnicode: !viewer.view.ascii))
    let interrupt = signals.first ?? ending.signal
    if let interrupt { return .status(128 + interrupt) }
    if ending == .status(0), error != 0, error != StandardStream.brokenPipe {
      return Program.failToWrite(error)
    }
    return counts.harmfulCount > 0 ? .status(1) : ending
  }
}

extension Ending {
  /// The signal by which the process must end; `nil` if it must exit with a status.
  fileprivate var signal: Int32? {
    if case .signal(let number) = self { number } else { nil }
  }
}

/// The first signal that has asked the program to end.
private final class ReceivedSignal: Sendable {
  private let number = Mutex<Int32?>(nil)

  /// The signal; `nil` if there was none.
  var first: Int32? { number.withLock { $0 } }

  /// Stores a signal, unless one is stored.
  ///
  /// - Returns: Whether the signal was stored.
  @discardableResult
  func note(_ signal: Int32) -> Bool {
    number.withLock { number in
      guard number == nil else { return false }
      number = signal
      return true
    }
  }
}

/// A run as the dashboard's workload.
private final class JobWorkload: DemoWorkload {
  private let jobs: JobRun

  init(_ jobs: JobRun) { self.jobs = jobs }

  var failure: WorkloadError? { nil }

  func start() { jobs.start() }

  func whenFinished(_ handler: @escaping @Sendable () -> Void) { jobs.whenFinished(handler) }

  /// Cancels all jobs, and waits until they have ended. The grace periods of the jobs limit this time.
  func shutDown() {
    jobs.cancel(RunWasCancelled("the run was ended"))
    if !Terminal.isOpen { RunningJobs.announceEnd(of: jobs) }
    let isOver = DispatchSemaphore(value: 0)
    jobs.whenFinished { isOver.signal() }
    isOver.wait()
  }
}
