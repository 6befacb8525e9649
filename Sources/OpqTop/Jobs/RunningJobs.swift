// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import Dispatch
import JobRun
import MonitorProtocol
import OperationsCollector
import OperationsCommands
import OperationsMonitor
import Synchronization

/// The jobs of a run that this process executes: in the foreground, or without a terminal. It prints a line for each
/// start and each end.
struct RunningJobs {
  private let jobs: JobRun
  private let journal: RunJournal
  private let viewer: ViewerRun
  private let words: RunWords
  private let isDetached: Bool
  private let signals: ReceivedSignal
  private let retries: RetryRequests
  private let begin = ContinuousClock.now
  /// The session that keeps the operations of ended jobs, so that viewers that attach later can show them.
  private let keeper: MonitorSession

  /// Executes the jobs of a run to their end.
  ///
  /// - Parameters:
  ///   - start: The run.
  ///   - viewer: The run of the viewer, which receives signals.
  ///   - isDetached: Whether this process is a runner without a terminal. It ignores SIGHUP, and waits at its end until
  ///     no viewer is attached.
  /// - Returns: How the process must end.
  /// - Throws: `RunFailure` or another error if nothing was started.
  static func run(_ start: RunStart, _ viewer: ViewerRun, isDetached: Bool) throws -> Ending {
    let programs = try ShimPrograms.find()
    // The owner of the run cannot read a lock file that the superuser has created.
    if let failure = start.directory.continuationFailure { throw failure }
    // The lock is released when this function returns.
    let lock = try RunLock.take(start.directory)
    defer { withExtendedLifetime(lock) {} }
    let run =
      try start.new.map { LoadedRun(new: start.directory, $0) }
      ?? LoadedRun(start.directory, retrying: start.retrying)
    // The process that has created the run, or has started this one, has checked the cluster.
    if start.new == nil, !isDetached { try run.checkCluster() }
    RunText.say(run.sentences, isUnicode: !viewer.view.ascii)
    if run.isOver { return RunReport(run.directory).ending(isUnicode: !viewer.view.ascii) }
    if start.new == nil { try RunStore.write(run.plan, to: run.directory) }
    let journal = try RunJournal(appendingTo: run.directory)
    let running = try RunningJobs(
      run, journal, programs, viewer, words: start.words, isDetached: isDetached)
    let (ending, duration) = running.printLines()
    // All records are on the disk before another process can take the lock.
    journal.close()
    // The last records can be the first ones that were not written.
    sayJournalFailure(in: running.jobs.takeEvents())
    return running.report(ending, duration)
  }

  private init(
    _ run: LoadedRun, _ journal: RunJournal, _ programs: ShimPrograms, _ viewer: ViewerRun,
    words: RunWords, isDetached: Bool
  ) throws {
    self.journal = journal
    self.viewer = viewer
    self.words = words
    self.isDetached = isDetached
    // The greetings of viewers contain the name, and whether jobs can be retried.
    let retries = RetryRequests { viewer.waker.ring() }
    self.retries = retries
    JobRetry.setHandler { retries.answers(for: $0) }
    let file = run.request.title.split(separator: "/").last.map(String.init)
    ProcessFacts.setName("run \(file ?? run.request.title)")
    try Self.listen(isRequired: isDetached)
    var options = JobRun.Options()
    options.failsFast = run.request.failsFast
    // Each line would otherwise be a kind of its own.
    options.kind = run.request.isLines ? "line" : nil
    options.workingDirectory = run.request.directory
    options.cluster = run.request.cluster
    let jobs = JobRun(
      run.plan, directory: run.directory, journal: journal, programs: programs,
      history: run.resumption, options: options
    ) { viewer.waker.ring() }
    self.jobs = jobs
    if isDetached, OperationMonitor.socketPath == nil {
      throw RunFailure("viewers cannot attach to the runner of run \(run.directory.id)")
    }
    retries.begin(jobs)
    keeper = Self.keeper()
    signals = ReceivedSignal()
    receiveSignals()
  }

  // MARK: - Signals

  private func receiveSignals() {
    let (jobs, journal, signals, isDetached) = (jobs, journal, signals, isDetached)
    // Signals do not end this program before its jobs. The watch would end it after some seconds.
    viewer.watch.passOn { signal, _ in
      // A runner has no terminal that can be closed.
      if isDetached, signal == cmonitor_signal_hangup { return .done }
      guard signals.note(signal) else {
        if jobs.isFinished { Self.endProcess(jobs, journal, by: signals.first ?? signal) }
        // A closed terminal can send SIGHUP several times, so only the signals of keys kill the commands.
        if [cmonitor_signal_interrupt, cmonitor_signal_quit].contains(signal) {
          DispatchQueue.global().async { jobs.endGracePeriods() }
        }
        return .done
      }
      // The loop may be blocked in a write, so it does not end the jobs.
      DispatchQueue.global().async { Self.end(jobs, by: signal, isDetached: isDetached) }
      return .requestsEnd
    }
    if let signal = viewer.watch.takeRequest() {
      signals.note(signal)
      Self.end(jobs, by: signal, isDetached: isDetached)
    }
    jobs.whenFinished { [waker = viewer.waker] in
      waker.ring()
      guard let signal = signals.first else { return }
      // The loop may be blocked in a write. Then it does not end this process.
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(5)) {
        Self.endProcess(jobs, journal, by: signal)
      }
    }
  }

  /// Ends the jobs because a signal has arrived.
  private static func end(_ jobs: JobRun, by signal: Int32, isDetached: Bool) {
    jobs.cancel(RunWasCancelled("the run was ended by signal \(signal)"))
    let count = jobs.livingCommandCount
    guard count > 0 else { return }
    let words = count == 1 ? "the running job" : "\(count) running jobs"
    let other = signal == cmonitor_signal_interrupt ? "a second SIGINT" : "SIGINT"
    let advice = isDetached ? "send the runner \(other)" : "press Ctrl-C"
    let message = "signal \(signal): ending \(words); \(advice) to kill the commands"
    // The last error in the messages of a runner is shown when its dashboard is closed. This is no error.
    StandardStream.error.write(isDetached ? message + "\n" : Program.errorLine(message))
  }

  /// Ends the process when all jobs have ended, although the loop may be blocked.
  private static func endProcess(_ jobs: JobRun, _ journal: RunJournal, by signal: Int32) -> Never {
    journal.close()
    cmonitor_exit(isInterrupted(jobs) ? 128 + signal : hasSucceeded(jobs) ? 0 : 1)
  }

  /// Returns whether jobs are left for a resume after a signal. It is `false` if all jobs had ended before the signal
  /// arrived. The journal must be closed.
  private static func isInterrupted(_ jobs: JobRun) -> Bool {
    jobs.journalFailure != nil || RunReport.hasInterruptedJobs(jobs.directory, jobs.counts)
  }

  private static func hasSucceeded(_ jobs: JobRun) -> Bool {
    jobs.counts.harmfulCount == 0 && jobs.journalFailure == nil
  }

  // MARK: - Viewers

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
  /// - Parameter isRequired: Whether an error is thrown if viewers cannot attach. Otherwise it is only printed.
  /// - Throws: `MonitorError` if viewers cannot attach.
  private static func listen(isRequired: Bool) throws {
    guard !OperationMonitor.isDecidedByEnvironment else { return }
    do {
      try OperationMonitor.listen(mode: .readWrite)
    } catch {
      if isRequired { throw error }
      StandardStream.error.write(
        Program.errorLine("other processes cannot attach to this run: \(error)"))
    }
  }

  // MARK: - Output

  /// Prints a line for each start and each end until all jobs have ended and no viewer must be awaited.
  ///
  /// - Returns: Whether the lines were printed, and the time until all jobs had ended.
  private func printLines() -> (ending: Ending, duration: Duration) {
    let viewers = isDetached ? AttachedViewers(waker: viewer.waker) : nil
    let text = RunText(plan: jobs.plan, isUnicode: !viewer.view.ascii)
    var failure: Int32 = 0
    var duration: Duration?
    jobs.start()
    while true {
      let isOver = jobs.isFinished
      // Viewers can retry jobs after the end.
      duration = isOver ? duration ?? begin.duration(to: .now) : nil
      let events = jobs.takeEvents()
      Self.sayJournalFailure(in: events)
      // A reader that has closed the output does not end the jobs.
      let lines = text.lines(of: events)
      if failure == 0, !lines.isEmpty { failure = StandardStream.output.write(lines) }
      let now = MonitorTime.now
      let isAwaited = signals.first == nil && viewers?.mustBeAwaited(at: now) == true
      if isOver, !isAwaited, retries.end() { break }
      // The answer to a request rings too.
      viewer.waker.wait(until: isOver ? viewers?.nextChange(after: now) : nil)
    }
    let hasFailed = failure != 0 && failure != StandardStream.brokenPipe
    return (hasFailed ? Program.failToWrite(failure) : .status(0), duration ?? .zero)
  }

  /// Prints why the journal cannot be written, if this is one of several events.
  private static func sayJournalFailure(in events: [JobEvent]) {
    for case .journalFailed(let reason) in events {
      StandardStream.error.write(Program.errorLine(reason))
    }
  }

  /// Prints the summary, and returns how the process must end.
  private func report(_ ending: Ending, _ duration: Duration) -> Ending {
    let interrupting = signals.first.flatMap { Self.isInterrupted(jobs) ? $0 : nil }
    // A run that has ended by itself does not need all of its files.
    if interrupting == nil, jobs.journalFailure == nil { jobs.deleteUselessFiles() }
    let summary = RunText.summary(
      jobs.counts, duration: duration, logs: RunReport.outputPlace(jobs.directory))
    let error = StandardStream.output.write(
      RunText.shown(summary, isUnicode: !viewer.view.ascii))
    if let interrupting {
      StandardStream.error.write(Program.errorLine("continue the run with: \(words.resume)"))
      return .status(128 + interrupting)
    }
    if ending == .status(0), error != 0, error != StandardStream.brokenPipe {
      return Program.failToWrite(error)
    }
    return Self.hasSucceeded(jobs) ? ending : .status(1)
  }
}

/// The error that the environment prevents that a runner without a terminal is shown.
struct NobodyCanAttach: Error, CustomStringConvertible {
  let description = """
    the environment variable OPQ_MONITOR is neither rw nor ro, so the run cannot be shown; use --batch
    """
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
