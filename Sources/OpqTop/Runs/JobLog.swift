// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import CursesTerminal
import JobRun
import MonitorProtocol
import OperationsCommands

/// `opq-top log --run`: prints the output of a job of a run and, if it follows the job, waits for further output until
/// the job has ended.
///
/// It reads the files of the run, and needs no runner.
struct JobLog: ~Copyable {
  /// What to do after a step.
  enum Step: Equatable {
    /// There may be more output without a wait.
    case goOn
    /// There is no output until another process writes some.
    case wait
    /// Everything was printed. The message is printed on standard error.
    case end(status: Int32, String?)
    /// Standard output cannot be written.
    case fail(error: Int32)
  }

  private let run: FoundRun
  private let job: String
  /// The number of the attempt; `nil` for the last one and, if the job is followed, those after it.
  private let wanted: Int?
  private let follows: Bool
  private let shown: ShownBytes?
  private var tail: JournalTail
  private var known: LoggedJob
  /// The attempt whose output is printed; `nil` before the first one.
  private var attempt: Int?
  private var copy: OutputCopy?
  /// Whether the attempt has ended and its whole output was printed.
  private var isPrinted = false
  private var hasOutput = false

  /// - Parameters:
  ///   - run: The run.
  ///   - job: The name of the job.
  ///   - attempt: The number of the attempt; `nil` for the last one.
  ///   - follows: Whether new output is printed until the job has ended.
  ///   - shown: The conversion for a terminal; `nil` if the bytes are printed as they are.
  init(_ run: FoundRun, job: String, attempt: Int?, follows: Bool, _ shown: ShownBytes?) {
    self.run = run
    self.job = job
    wanted = attempt
    self.follows = follows
    self.shown = shown
    tail = JournalTail(run.directory, job: job)
    known = LoggedJob(job)
  }

  /// Prints the output that is there.
  ///
  /// - Parameters:
  ///   - hasRunner: Whether a runner is alive, or is about to begin. It is evaluated after the journal was read, and
  ///     only if no command of the job is alive. If there is no runner, the output of the attempt is complete.
  ///   - write: Writes bytes. Returns 0, or the error number.
  /// - Returns: What to do next.
  /// - Throws: `RunFailure` or `FileError` if a file cannot be read.
  mutating func step(
    hasRunner: @autoclosure () -> Bool, write: (UnsafeRawBufferPointer) -> Int32
  ) throws -> Step {
    // What is known before the output is read decides whether the output is complete.
    var news = known
    try tail.read { news.note($0) }
    known = news
    if attempt == nil || isPrinted, let next = nextAttempt {
      attempt = next
      isPrinted = false
      copy = nil
    }
    // A runner that has begun to wait for the shim was alive before the end of the shim.
    let isInterrupted = !hasCommand && !hasRunner()
    guard let attempt, !isPrinted, let name = known.files[attempt] else {
      return stepWithoutOutput(isInterrupted: isInterrupted)
    }
    let isOver = known.isOver(attempt) || isInterrupted
    if copy == nil {
      copy = try OutputCopy.open(run.directory.files(named: name).log, shown)
    }
    let (count, error) = try copy?.copy(isLast: isOver, to: write) ?? (0, 0)
    guard error == 0 else { return .fail(error: error) }
    if count > 0 { hasOutput = true }
    if isOver {
      isPrinted = true
      copy = nil
    }
    guard isPrinted || !follows else { return count > 0 ? .goOn : .wait }
    return stepWithoutOutput(isInterrupted: isInterrupted)
  }

  /// The attempt whose output is printed next; `nil` if it has not started, or if there is none.
  private var nextAttempt: Int? {
    if let attempt { return wanted == nil ? known.attempt(after: attempt) : nil }
    guard let wanted else { return known.lastAttempt }
    return known.files[wanted] == nil ? nil : wanted
  }

  /// Whether the command of the attempt may be alive. It continues when its runner has ended.
  private var hasCommand: Bool {
    guard let attempt, let name = known.files[attempt] else { return false }
    return run.directory.files(named: name).mayBeAlive
  }

  /// Returns what to do when the output of no attempt can be printed now.
  private func stepWithoutOutput(isInterrupted: Bool) -> Step {
    let id = EscapedText.escaped(job)
    if let wanted {
      if attempt != nil {
        if follows, isInterrupted, !known.isOver(wanted) {
          return interruption(before: "attempt \(wanted) of \(id)")
        }
        return .end(status: 0, hasOutput ? nil : "\(id) has no output")
      }
      if !follows || known.end != nil || isInterrupted {
        let count = known.lastAttempt ?? 0
        let attempts = count == 1 ? "1 attempt has" : "\(count) attempts have"
        return .end(status: 1, "there is no attempt \(wanted) of \(id); \(attempts) started")
      }
      return .wait
    }
    if follows, isPrinted, known.attempt(after: attempt ?? 0) != nil { return .goOn }
    if let end = known.end {
      let isQuiet = attempt == nil ? end.sentence(for: job) : "\(id) has no output"
      return .end(status: 0, hasOutput ? nil : isQuiet)
    }
    if follows { return isInterrupted ? interruption(before: id) : .wait }
    let state = attempt == nil ? "has not started" : "has no output"
    return .end(status: 0, hasOutput ? nil : "\(id) \(state)")
  }

  /// Returns the end of a log whose run was interrupted.
  private func interruption(before end: String) -> Step {
    let words = "the run was interrupted before \(end) ended"
    return .end(status: 1, "\(words); resume it with: opq-top run --resume \(run.operand)")
  }
}

extension JobLog {
  /// The time between two steps without output.
  private static let pause = Duration.milliseconds(50)

  /// Prints the output until the end, or until a signal arrives.
  ///
  /// - Parameter viewer: The run of the viewer, which receives signals.
  /// - Returns: How the process must end.
  /// - Throws: `RunFailure` or `FileError` if a file cannot be read.
  mutating func print(_ viewer: ViewerRun) throws -> Ending {
    if let stranger = unknownJob() { return Program.fail(stranger, status: 1) }
    let directory = run.directory
    var isCertain = false
    while true {
      if let signal = viewer.watch.takeRequest() { return .signal(signal) }
      let next = try step(
        hasRunner: RunLock.holder(of: directory) != nil || directory.isStarting()
      ) {
        StandardStream.output.write($0)
      }
      // A runner can have begun, and can have ended too, after the journal was read.
      if case .end(1, _) = next, !isCertain {
        isCertain = true
        continue
      }
      isCertain = false
      switch next {
      case .goOn: break
      case .wait: viewer.waker.wait(until: .now + Self.pause)
      case .end(let status, nil): return .status(status)
      case .end(let status, let message?): return Program.fail(message, status: status)
      case .fail(StandardStream.brokenPipe): return .status(0)
      case .fail(let error): return Program.failToWrite(error)
      }
    }
  }

  /// Returns the sentence that the run has no such job; `nil` if it has the job, or if its plan cannot be read.
  private func unknownJob() -> String? {
    guard let ids = run.directory.plannedJobs, !ids.contains(job) else { return nil }
    var known = LoggedJob(job)
    var tail = JournalTail(run.directory, job: job)
    // A job that the job file no longer has can have output from an earlier plan.
    try? tail.read { known.note($0) }
    if known.isKnown { return nil }
    let advice = NearestName.nearest(to: job, in: ids)
      .map { "; did you mean \"\(EscapedText.escaped($0))\"?" }
    let name = EscapedText.escaped(job)
    return "the run \(run.directory.id) has no job \"\(name)\"\(advice ?? "")"
  }
}
