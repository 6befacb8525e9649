// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

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
    listen()
    let running = RunningJobs(
      JobRun(plan, logs: logs, options: options) { viewer.waker.ring() }, viewer)
    do {
      let ending = try showsDashboard ? running.showDashboard(title: title) : running.printLines()
      return running.report(ending, isOnTerminal: showsDashboard)
    } catch {
      logs.deleteIfEmpty()
      throw error
    }
  }

  private init(_ jobs: JobRun, _ viewer: ViewerRun) {
    self.jobs = jobs
    self.viewer = viewer
    let signals = ReceivedSignal()
    self.signals = signals
    // Signals do not end this program before its jobs. The watch would end it after some seconds.
    viewer.watch.passOn { signal, _ in
      signals.note(signal)
      viewer.waker.ring()
      return .requestsEnd
    }
    if let signal = viewer.watch.takeRequest() { signals.note(signal) }
    jobs.whenFinished { [completion] in
      completion.reach()
      viewer.waker.ring()
    }
  }

  /// Lets viewers attach to this process, unless the environment decides about it.
  private static func listen() {
    guard !OperationMonitor.isDecidedByEnvironment else { return }
    do {
      try OperationMonitor.listen(mode: .readWrite)
    } catch {
      StandardStream.error.write(Program.errorLine("viewers cannot attach: \(error)"))
    }
  }

  /// Prints a line for each start and each end until all jobs have ended.
  private func printLines() -> Ending {
    let text = RunText(plan: jobs.plan)
    var failure: Int32 = 0
    var isCancelled = false
    var hasStarted = false
    while true {
      let isOver = completion.isReached
      if !isCancelled, let signal = signals.first {
        isCancelled = true
        cancel(after: signal)
      }
      if !hasStarted {
        hasStarted = true
        jobs.start()
      }
      // A reader that has closed the output does not end the jobs.
      let lines = text.lines(of: jobs.takeEvents())
      if failure == 0, !lines.isEmpty { failure = StandardStream.output.write(lines) }
      if isOver { break }
      viewer.waker.wait(until: nil)
    }
    guard failure != 0, failure != StandardStream.brokenPipe else { return .status(0) }
    return Program.failToWrite(failure)
  }

  private func cancel(after signal: Int32) {
    StandardStream.error.write(Program.errorLine("signal \(signal): ending the jobs"))
    jobs.cancel(RunWasCancelled("the run was ended by signal \(signal)"))
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
    let error = StandardStream.output.write(
      RunText.summary(counts, duration: begin.duration(to: .now), logs: place))
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
  func note(_ signal: Int32) {
    number.withLock { number in
      if number == nil { number = signal }
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
    let isOver = DispatchSemaphore(value: 0)
    jobs.whenFinished { isOver.signal() }
    isOver.wait()
  }
}
