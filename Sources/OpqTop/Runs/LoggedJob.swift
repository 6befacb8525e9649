// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun

/// What the journal of a run says about one job whose output is printed.
struct LoggedJob {
  /// The name of the job.
  let name: String
  /// The names of the files of each attempt that has started.
  private(set) var files: [Int: String] = [:]
  /// The end of the job; `nil` if the job has not ended, or if it runs again.
  private(set) var end: JobOutcome?
  /// The number of the last attempt that has ended; 0 if none has ended.
  private var lastEnded = 0
  /// Whether the job has ended because the whole run was ended. The next runner then runs it again.
  private var isEndedByRun = false

  /// - Parameter name: The name of the job.
  init(_ name: String) { self.name = name }

  /// The number of the last attempt that has started; `nil` if none has started.
  var lastAttempt: Int? { files.keys.max() }

  /// Whether the journal has a record about the job.
  var isKnown: Bool { !files.isEmpty || end != nil }

  /// Returns the number of the first attempt after an attempt; `nil` if it has not started.
  func attempt(after attempt: Int) -> Int? { files.keys.filter { $0 > attempt }.min() }

  /// Returns whether an attempt has ended, and its file is complete.
  func isOver(_ attempt: Int) -> Bool {
    end != nil || attempt <= lastEnded || self.attempt(after: attempt) != nil
  }

  /// Notes the next record of the journal. Records about other jobs are ignored.
  mutating func note(_ record: JournalRecord) {
    switch record.event {
    case .runner:
      if isEndedByRun { end = nil }
    case .retry:
      if record.jobs?.contains(name) == true { end = nil }
    case .submitted, .finish: break
    case .start:
      guard record.job == name, let attempt = record.attempt else { return }
      end = nil
      files[attempt] = record.files
    case .attempt:
      guard record.job == name else { return }
      lastEnded = max(lastEnded, record.attempt ?? 0)
    case .end:
      guard record.job == name else { return }
      lastEnded = max(lastEnded, record.attempt ?? 0)
      end = record.outcome
      isEndedByRun = record.byRun ?? false
    }
  }
}
