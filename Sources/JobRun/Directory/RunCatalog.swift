// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Whether the jobs of a run are executed.
package enum RunState: Hashable, Sendable {
  /// A runner is alive. The process id is 0 if it is unknown.
  case running(process: Int32)
  /// All jobs have ended, and the runner is alive, because a viewer still shows the run. The process id is 0 if it is
  /// unknown.
  case shown(process: Int32)
  /// All jobs have ended.
  case finished
  /// The run is new, and its first runner has not begun.
  case starting
  /// No runner is alive, and not all jobs have ended by themselves. Jobs that were cancelled because the whole run was
  /// ended, by a signal, run again if the run is resumed.
  case interrupted
  /// The files of the run are missing or damaged. The sentence says which.
  case damaged(RunFailure)
}

/// The facts about a run that lists of runs show.
package struct RunSummary: Hashable, Sendable {
  /// The directory of the run.
  package let directory: RunDirectory
  /// Whether the jobs are executed.
  package let state: RunState
  /// The number of jobs of the newest plan that have ended in each state.
  package let counts: JobCounts
  /// The number of jobs of the newest plan.
  package let jobCount: Int
  /// The wall clock at the creation, in nanoseconds since 1970.
  package let created: Int64
  /// The title of the run; the id if the run is damaged. The text is unsanitised.
  package let title: String
  /// The path of the job file; `nil` if the jobs were read from standard input, or if the run is damaged. The text is
  /// unsanitised.
  package let file: String?
}

/// Summarizes the runs of a place.
package enum RunCatalog {
  /// Returns the summaries of all runs. The newest one is last.
  ///
  /// - Parameter place: The place of the runs.
  /// - Returns: The summaries; none if the place does not exist.
  /// - Throws: ``RunFailure`` if the place cannot be read. A run that cannot be read has the state `damaged`.
  package static func summaries(in place: RunPlace) throws(RunFailure) -> [RunSummary] {
    try RunStore.all(in: place).map { summary(of: $0) }
  }

  /// Returns the summary of a run.
  ///
  /// - Parameter directory: The directory of the run.
  /// - Returns: The summary; its state is `damaged` if the run cannot be read.
  package static func summary(of directory: RunDirectory) -> RunSummary {
    do throws(RunFailure) {
      let request = try RunRequest.read(directory)
      // The lock is checked before the journal is read: a runner that has ended in between has written everything.
      let holder = RunLock.holder(of: directory)
      let history = try RunHistory.read(directory)
      // If the plan cannot be read, the journal still contains the jobs that have started or ended.
      let jobs = directory.plannedJobs ?? Array(history.jobs.keys)
      var counts = JobCounts()
      for job in jobs {
        if let outcome = history.jobs[job]?.outcome { counts.add(outcome) }
      }
      let wasEnded = jobs.contains { history.jobs[$0]?.isByRun == true }
      return RunSummary(
        directory: directory,
        state: state(of: directory, history, holder: holder, wasEnded: wasEnded),
        counts: counts, jobCount: jobs.count, created: request.created, title: request.title,
        file: request.file)
    } catch {
      return RunSummary(
        directory: directory, state: .damaged(error), counts: JobCounts(), jobCount: 0,
        created: RunID.time(of: directory.id), title: directory.id, file: nil)
    }
  }

  /// Returns the state of a run whose files can be read.
  ///
  /// - Parameters:
  ///   - directory: The directory of the run.
  ///   - history: What the journal says.
  ///   - holder: The process that had the lock before the journal was read.
  ///   - wasEnded: Whether a job was cancelled or skipped because the whole run was ended.
  /// - Returns: The state.
  private static func state(
    of directory: RunDirectory, _ history: RunHistory, holder: Int32?, wasEnded: Bool
  ) -> RunState {
    if let holder {
      return history.isFinished ? .shown(process: holder) : .running(process: holder)
    }
    if history.isFinished, !wasEnded { return .finished }
    // A runner can have begun since the first check.
    if let holder = RunLock.holder(of: directory) { return .running(process: holder) }
    return directory.isStarting() ? .starting : .interrupted
  }
}

extension RunDirectory {
  /// The ids of the jobs of the newest plan; `nil` if the plan cannot be read.
  package var plannedJobs: [String]? { PlanJobs.ids(of: self) }
}

/// The jobs of a plan that was written as JSON.
private enum PlanJobs {
  /// Returns the ids of the jobs of the newest plan; `nil` if the plan cannot be read.
  static func ids(of directory: RunDirectory) -> [String]? {
    guard let bytes = try? RunDisk.contents(directory.plan) else { return nil }
    var ids: [String] = []
    do throws(JSONFault) {
      try JSONScanner.read(bytes) { scanner throws(JSONFault) in
        try scanner.readObject { scanner, key throws(JSONFault) in
          guard key == "jobs" else { return try scanner.skipValue() }
          try scanner.readList { scanner throws(JSONFault) in
            try scanner.readObject { scanner, key throws(JSONFault) in
              guard key == "id" else { return try scanner.skipValue() }
              ids.append(try scanner.readString())
            }
          }
        }
      }
    } catch {
      return nil
    }
    return ids
  }
}
