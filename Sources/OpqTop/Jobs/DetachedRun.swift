// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import Dashboard
import JobRun
import MonitorProtocol

/// A run whose runner has no terminal, and the dashboard of this process, which shows it. The run continues when the
/// dashboard is closed.
struct DetachedRun {
  /// The time in which a runner whose jobs have ended has to end after the dashboard was closed. Another viewer can
  /// keep it longer.
  private static let patienceAtEnd = Duration.seconds(1)

  private let start: RunStart
  private let viewer: ViewerRun

  /// - Parameters:
  ///   - start: The run.
  ///   - viewer: The run of the viewer, which was created before any other thread.
  init(_ start: RunStart, _ viewer: ViewerRun) {
    self.start = start
    self.viewer = viewer
  }

  /// Checks, before anything is created, that the dashboard can show a runner on this terminal.
  ///
  /// - Throws: `TerminalError` or ``NobodyCanAttach``.
  static func check() throws {
    try Terminal.check()
    let mode = cmonitor_environment("OPQ_MONITOR").map { String(cString: $0) }
    if let mode, !["ro", "rw"].contains(mode) { throw NobodyCanAttach() }
  }

  /// Starts the runner, shows it until the user closes the dashboard, and prints how to return to the run, or its
  /// summary.
  ///
  /// - Returns: How the process must end.
  /// - Throws: An error if nothing was started.
  func ending() throws -> Ending {
    if start.new == nil, let ending = try endingWithoutWork() { return ending }
    // A signal that arrived earlier ends this process, so the runner is not started.
    if let signal = viewer.watch.takeRequest() {
      start.discard()
      return .status(128 + signal)
    }
    let runner = try RunnerProcess(start, viewer)
    do {
      guard let ending = try shown(runner) else { return failedStart(runner) }
      return report(ending, runner)
    } catch let request as ViewerRun.SignalRequest {
      return report(.signal(request.signal), runner)
    } catch {
      // The runner is alive, so its jobs run.
      return report(Program.fail(error), runner)
    }
  }

  /// Says what happens with the jobs of a run that is continued. If nothing is left to do, prints the summary.
  ///
  /// - Returns: How the process must end; `nil` if jobs are left.
  /// - Throws: An error if the run cannot be continued, such as `RunFailure` if its cluster cannot be used.
  private func endingWithoutWork() throws -> Ending? {
    try LoadedRun.checkIdle(start.directory)
    let run = try LoadedRun(start.directory, retrying: start.retrying)
    try run.checkCluster()
    RunText.say(run.sentences, isUnicode: !viewer.view.ascii)
    return run.isOver ? RunReport(run.directory).ending(isUnicode: !viewer.view.ascii) : nil
  }

  /// Shows the runner until the user closes the dashboard; `nil` if the runner has ended before it could be shown.
  private func shown(_ runner: RunnerProcess) throws -> Ending? {
    let title = try start.new?.request.title ?? RunRequest.read(start.directory).title
    let source = try runner.opened { path in
      let run = WatchedRun(start.directory, title: title, words: start.words, socket: path)
      return (try viewer.watchProcess(LocatedProcess(path: path), run: run), path)
    }
    guard let (watched, path) = source else { return nil }
    let hints = ["q leaves the jobs running", "x cancels", "L shows the output", "? help"]
    return try viewer.showDashboard(
      of: (watched, .process(path)), demo: DemoChoice(),
      launchHint: hints.joined(separator: " \u{B7} "))
  }

  /// Reports that the runner has ended before it could be shown.
  private func failedStart(_ runner: RunnerProcess) -> Ending {
    // Of two runners that begin at the same time, one ends at once.
    if let process = RunLock.holder(of: start.directory), process != runner.processID {
      return Program.fail(RunFailure(runner: process, of: start.directory))
    }
    // The run has changed since this process has checked the names of the jobs.
    if runner.ending == .status(1), !start.retrying.isEmpty, let sentence = runner.lastSentence {
      return Program.fail(sentence, status: 1)
    }
    guard runner.ending == .status(2) else { return report(.status(0), runner) }
    // A mistake was found before a job has started.
    let sentence = runner.lastSentence ?? "the runner has ended with the status 2"
    start.discard()
    return Program.fail(sentence)
  }

  // MARK: - The end

  /// Prints the state of the run after the dashboard was closed.
  ///
  /// - Parameters:
  ///   - ending: How the dashboard has ended.
  ///   - runner: The runner.
  /// - Returns: How the process must end.
  private func report(_ ending: Ending, _ runner: RunnerProcess) -> Ending {
    // A runner that has printed an error ends soon too.
    if WatchedRun.haveJobsEnded(of: start.directory) || runner.lastSentence != nil {
      runner.awaitEnd(for: Self.patienceAtEnd)
    }
    let run = ClosedRun(
      directory: start.directory, words: start.words, isUnicode: !viewer.view.ascii)
    let result = run.ending(
      after: ending, loss: runner.ending.map { loss(runner, $0) }, error: runner.lastSentence)
    // A signal gives an exit status, as without a dashboard.
    return if case .signal(let number) = result { .status(128 + number) } else { result }
  }

  /// Returns words about the end of a runner.
  private func loss(_ runner: RunnerProcess, _ ending: Ending) -> String {
    switch ending {
    case .signal(let number): " by signal \(number)"
    case .status(let status):
      runner.lastSentence.map { ": \($0)" } ?? " with the status \(status)"
    }
  }
}
