// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import MonitorProtocol

/// Formats runs as text, with one line for each run.
enum RunTable {
  /// Returns a header and a line for each run. The text contains no escape sequences, even if the names of files do.
  ///
  /// - Parameters:
  ///   - runs: The runs.
  ///   - now: The wall clock, in nanoseconds since 1970.
  ///   - isUnicode: Whether the text may have characters beyond ASCII.
  /// - Returns: The lines.
  static func text(of runs: [RunSummary], at now: Int64, isUnicode: Bool = true) -> String {
    let counts = ["PID", "JOBS", "SUCCEEDED", "FAILED", "SKIPPED", "CANCELLED", "AGE"]
    var table = TextTable(
      ["ID", "STATE"].map { .init(title: $0, width: 0) }
        + counts.map { .init(title: $0, width: 0, isRightAligned: true) }
        + [.init(title: "FILE", width: 0)], isUnicode: isUnicode, gap: 2)
    for run in runs { table.add(cells(of: run, at: now)) }
    return table.lines.map { "\($0)\n" }.joined()
  }

  private static func cells(of run: RunSummary, at now: Int64) -> [String] {
    let age = TimeText.duration(run.age(at: now))
    if case .damaged(let failure) = run.state {
      return [run.directory.id, run.state.label]
        + Array(repeating: "-", count: 6) + [age, "\(failure)"]
    }
    let states: [JobOutcome.State] = [.succeeded, .failed, .skipped, .cancelled]
    let process = run.state.process.map { "\($0)" } ?? "-"
    return [run.directory.id, run.state.label, process, "\(run.jobCount)"]
      + states.map { "\(run.counts.counts[$0] ?? 0)" } + [age, run.title]
  }
}

extension RunState {
  /// The state as a word. It does not tell if a viewer shows a run that has finished.
  var word: String {
    switch self {
    case .running: "running"
    case .shown, .finished: "finished"
    case .starting: "starting"
    case .interrupted: "interrupted"
    case .damaged: "damaged"
    }
  }

  /// The state as people read it.
  fileprivate var label: String { if case .shown = self { "\(word), shown" } else { word } }

  /// The process id of the runner; `nil` if no runner is alive, or if its process id is unknown.
  var process: Int32? {
    switch self {
    case .running(let process), .shown(let process): process > 0 ? process : nil
    case .finished, .starting, .interrupted, .damaged: nil
    }
  }
}

extension RunSummary {
  /// Returns the time since the creation of the run.
  ///
  /// - Parameter now: The wall clock, in nanoseconds since 1970.
  /// - Returns: The time; zero if the clock was set back.
  func age(at now: Int64) -> Duration { .nanoseconds(max(0, now.subtractingClamped(created))) }
}

extension Int64 {
  /// Returns the difference to another number, or the nearest number that can be represented. The other number can come
  /// from a damaged file.
  fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other > 0 ? .min : .max) : difference
  }
}

/// The output of `runs --json`, which `Scripting.md` documents for users.
struct RunListing: Encodable {
  /// A run.
  struct Run: Encodable {
    /// The id.
    let id: String
    /// The state: `running`, `finished`, `starting`, `interrupted` or `damaged`.
    let state: String
    /// The process that executes the jobs, or that still shows them; `nil` if there is none, or if its id is unknown.
    let process: Int32?
    /// The path of the directory of the run.
    let directory: String
    /// The path of the job file; `nil` if the jobs were read from standard input or a pipe.
    let file: String?
    /// The name of the job file, as it was given.
    let title: String
    /// The time of the creation, in seconds since 1970.
    let createdSecondsSince1970: Double
    /// The time since the creation, in seconds.
    let ageSeconds: Double
    /// The number of jobs.
    let jobCount: Int
    /// The number of jobs that have ended in each state.
    let counts: Counts
    /// The reason why the files of the run cannot be read; `nil` if they can.
    let error: String?
  }

  /// The number of jobs that have ended in each state.
  struct Counts: Encodable {
    let succeeded: Int
    let failed: Int
    let skipped: Int
    let cancelled: Int
  }

  let schema = "opq.runs/1"
  let runs: [Run]

  /// Creates the output for runs.
  ///
  /// - Parameters:
  ///   - runs: The runs.
  ///   - now: The wall clock, in nanoseconds since 1970.
  init(_ runs: [RunSummary], at now: Int64) { self.runs = runs.map { Run($0, at: now) } }
}

extension RunListing.Run {
  fileprivate init(_ run: RunSummary, at now: Int64) {
    let error: String? = if case .damaged(let failure) = run.state { "\(failure)" } else { nil }
    self.init(
      id: run.directory.id, state: run.state.word, process: run.state.process,
      directory: run.directory.path, file: run.file, title: run.title,
      createdSecondsSince1970: Double(run.created / 1_000_000) / 1_000,
      ageSeconds: (run.age(at: now) / .milliseconds(1)).rounded(.down) / 1_000,
      jobCount: run.jobCount, counts: RunListing.Counts(run.counts), error: error)
  }
}

extension RunListing.Counts {
  fileprivate init(_ counts: JobCounts) {
    func count(_ state: JobOutcome.State) -> Int { counts.counts[state] ?? 0 }
    self.init(
      succeeded: count(.succeeded), failed: count(.failed), skipped: count(.skipped),
      cancelled: count(.cancelled))
  }
}
