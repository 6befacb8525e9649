// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import JobRun

/// The result of a run that has ended, from its files.
struct RunReport {
  private let run: RunSummary

  /// Reads the files of a run.
  ///
  /// - Parameter directory: The directory of the run.
  init(_ directory: RunDirectory) { run = RunCatalog.summary(of: directory) }

  /// Prints the summary of the run.
  ///
  /// - Parameter isUnicode: Whether the summary may have characters beyond ASCII.
  /// - Returns: How the process must end: with 0 if no job prevents the success of the run.
  func ending(isUnicode: Bool) -> Ending {
    if case .damaged(let failure) = run.state { return Program.fail("\(failure)", status: 1) }
    let summary = RunText.summary(
      run.counts, duration: duration, logs: Self.outputPlace(run.directory))
    let error = StandardStream.output.write(RunText.shown(summary, isUnicode: isUnicode))
    guard error == 0 || error == StandardStream.brokenPipe else {
      return Program.failToWrite(error)
    }
    let isComplete = run.counts.total == run.jobCount
    return .status(isComplete && run.counts.harmfulCount == 0 ? 0 : 1)
  }

  /// Whether a resume runs jobs again, because they were cancelled or skipped when the whole run was ended.
  var hasInterruptedJobs: Bool { Self.hasInterruptedJobs(run.directory, run.counts) }

  /// Returns whether a resume of a run runs jobs again, because they were cancelled or skipped when the whole run was
  /// ended. The journal must have all records.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - counts: The number of jobs in each state.
  /// - Returns: Whether such jobs exist.
  static func hasInterruptedJobs(_ directory: RunDirectory, _ counts: JobCounts) -> Bool {
    // A job is skipped in this way only if another one was cancelled. Without one, the journal is not read.
    guard counts.counts[.cancelled] != nil else { return false }
    guard let history = try? RunHistory.read(directory) else { return true }
    let jobs = directory.plannedJobs ?? Array(history.jobs.keys)
    return jobs.contains { history.jobs[$0]?.isByRun == true }
  }

  /// The time from the start of the last runner to the end of the last job. It is zero if the clock was set back.
  private var duration: Duration {
    var (begin, end) = (Int64?.none, Int64?.none)
    // No job has an empty name, so the records of jobs are not read.
    var tail = JournalTail(run.directory, job: "")
    try? tail.read { record in
      switch record.event {
      case .runner: begin = record.time
      case .finish: end = record.time
      case .start, .submitted, .attempt, .end, .retry: break
      }
    }
    guard let begin, let end else { return .zero }
    return .nanoseconds(max(0, end - begin))
  }

  /// Returns the path of the directory with the output of the jobs of a run; `nil` if no job has any output.
  static func outputPlace(_ directory: RunDirectory) -> String? {
    guard let files = cmonitor_open_directory(directory.jobs) else { return nil }
    defer { cmonitor_close_directory(files) }
    while let name = cmonitor_next_name(files) {
      let name = String(cString: name)
      guard name.hasSuffix(".log") else { continue }
      var status = cmonitor_file_status()
      let error = cmonitor_read_status("\(directory.jobs)/\(name)", false, &status)
      if error == 0, status.size > 0 { return directory.jobs }
    }
    return nil
  }
}
