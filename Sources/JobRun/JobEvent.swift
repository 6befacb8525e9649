// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// What has happened in a run.
package enum JobEvent: Sendable, Equatable {
  /// An attempt of the job with this index in the plan has started. The first attempt has the number 1.
  case started(Int, attempt: Int)
  /// An attempt of the job with this index has failed, and another attempt follows. The reason is one as in
  /// ``JobOutcome/reason``.
  case retried(Int, attempt: Int, reason: String)
  /// An attempt of the job with this index that an earlier runner has started continues.
  case adopted(Int, attempt: Int)
  /// The job with this index in the plan has ended, and no further attempt follows.
  case ended(Int, JobOutcome)
  /// The job with this index had ended, and runs again because of ``JobRun/retryPossible(_:)``. Its outcome no longer
  /// counts.
  case willRunAgain(Int)
  /// The journal cannot be written. No further job starts, and the commands that run end by themselves. The reason is
  /// one sentence.
  case journalFailed(reason: String)
}

/// The number of jobs that have ended in each state.
package struct JobCounts: Hashable, Sendable {
  /// The number of jobs that have ended in each state.
  package private(set) var counts: [JobOutcome.State: Int] = [:]
  /// The number of jobs that prevent the success of the run.
  package private(set) var harmfulCount = 0

  /// Creates counts of zero.
  package init() {}

  /// Counts a job.
  package mutating func add(_ outcome: JobOutcome) {
    counts[outcome.state, default: 0] += 1
    if !outcome.isHarmless { harmfulCount += 1 }
  }

  /// Removes a job that was counted, because it runs again.
  package mutating func remove(_ outcome: JobOutcome) {
    let count = counts[outcome.state, default: 0] - 1
    counts[outcome.state] = count > 0 ? count : nil
    if !outcome.isHarmless { harmfulCount -= 1 }
  }

  /// The number of jobs that have ended.
  package var total: Int { counts.values.reduce(0, +) }

  /// The counts as words, such as `8 jobs: 5 succeeded, 1 failed, 2 skipped`.
  package var text: String {
    let parts = JobOutcome.State.allCases.compactMap { state in
      counts[state].map { "\($0) \(state.rawValue)" }
    }
    let jobs = total == 1 ? "1 job" : "\(total) jobs"
    return parts.isEmpty ? jobs : "\(jobs): \(parts.joined(separator: ", "))"
  }
}
