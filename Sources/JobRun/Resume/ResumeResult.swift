// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import MonitorProtocol
import OperationsCommands

/// The result of ``ResumeRules`` for a job.
struct ResumeResult: Hashable {
  /// What a runner does with the job.
  enum Verdict: Hashable {
    case run
    /// The job keeps the outcome that it has.
    case keep(JobOutcome)
    /// The job is skipped with a new outcome.
    case skip(JobOutcome)
    case adopt(AdoptedShim)
    case adoptSubmission(SlurmSubmission)
    case take(status: Int32)
    /// The job waits for a retry, with a new outcome.
    case wait(JobOutcome)
  }

  /// What people must know about the job.
  enum Remark: Hashable {
    /// The command still runs.
    case adopted
    /// The command still runs, although the job or a need has changed.
    case adoptedOutdated
    /// The same for a job that must not run twice.
    case adoptedOutdatedOnce
    /// The command was submitted to a cluster.
    case submitted
    /// The command was submitted to a cluster, and the job or a need has changed since then.
    case submittedOutdated
    /// The command of a job that must not run twice was submitted to a cluster, and the job or a need has changed since
    /// then.
    case submittedOutdatedOnce
    /// The command has ended without a runner.
    case taken
    /// Neither a process nor an exit status was found.
    case lost
    /// The command still runs, but its shim was killed.
    case orphaned
    /// The same for a job that is skipped now.
    case orphanedAndBlocked
    /// The job has changed.
    case changed
    /// A need runs again.
    case behindChange
    /// The job is skipped now, because a need has not succeeded.
    case blocked
    /// The job was cancelled with the run.
    case interrupted
    /// A user has retried the job.
    case retried
    /// The job runs again because a user has retried another job.
    case behindRetry
    /// The job must not run again unasked. The reason is `nil` if an earlier runner has found it.
    case waits(WaitReason?)
    /// The process may still run, for a reason that is one sentence.
    case unknown(String)
  }

  /// Why a job that must not run twice would run again.
  enum WaitReason: Hashable, CaseIterable {
    case lost, changed, behindChange, interrupted

    /// The remark about a job that runs again for this reason.
    var remark: Remark {
      switch self {
      case .lost: .lost
      case .changed: .changed
      case .behindChange: .behindChange
      case .interrupted: .interrupted
      }
    }
  }

  /// What a runner does with the job.
  var verdict: Verdict
  /// The state in which the job certainly ends without an attempt that starts now; `nil` if the state is not known.
  var state: JobOutcome.State?
  /// Whether an outcome that other jobs may have used no longer counts.
  var isAgain = false
  /// Whether the job has never ended.
  var isNew = false
  /// Whether the journal must say that the job has not ended.
  var isReopened = false
  /// Whether the attempt that still runs no longer counts when it ends.
  var isOutdated = false
  /// Whether the job waits for a retry, or its process may still run. The state is `failed`, but no job with the
  /// condition `failure` runs because of it: a rollback must not follow a deployment that has succeeded and that has
  /// changed since then.
  var waits = false
  /// Whether the process of the job may still run, although its end is not awaited. No job starts because of its end.
  var mayRun = false
  /// The number of the last attempt that the job can have.
  var lastAttempt = 0
  var remark: Remark?

  init(_ verdict: Verdict) { self.verdict = verdict }
}

/// What a job has to know about its needs. The facts about several needs are the union of the facts about each need.
struct NeedFacts: OptionSet {
  let rawValue: UInt8

  /// An outcome that the job may have used no longer counts.
  static let isAgain = Self(rawValue: 1)
  /// A need has never ended.
  static let isNew = Self(rawValue: 2)
  /// It is not known in which state a need ends.
  static let isOpen = Self(rawValue: 4)
  /// A need has failed, and does not wait.
  static let hasFailed = Self(rawValue: 8)
  /// A need certainly does not succeed.
  static let isUnsuccessful = Self(rawValue: 16)
  /// A need waits for a retry.
  static let waits = Self(rawValue: 32)
  /// There is a need.
  static let exists = Self(rawValue: 64)
  /// The process of a need may still run, although its end is not awaited.
  static let mayRun = Self(rawValue: 128)
}

extension NeedFacts {
  /// Creates the facts about a need that ends in a state; `nil` if the state is not known.
  init(_ state: JobOutcome.State?) {
    switch state {
    case nil: self = [.exists, .isOpen]
    case .succeeded: self = .exists
    case .skipped, .cancelled: self = [.exists, .isUnsuccessful]
    case .failed: self = [.exists, .isUnsuccessful, .hasFailed]
    }
  }

  /// Creates the facts about a need.
  init(_ need: ResumeResult) {
    self.init(need.state)
    if need.isAgain { insert(.isAgain) }
    if need.isNew { insert(.isNew) }
    if need.waits {
      insert(.waits)
      remove(.hasFailed)
    }
    if need.mayRun { insert(.mayRun) }
  }

  /// Whether a job that has used its needs cannot keep its outcome.
  var isChange: Bool { contains(.isAgain) || contains(.isNew) }

  /// Whether a job with these needs is certainly skipped.
  func isSkipped(_ condition: JobPlan.Condition) -> Bool {
    if contains(.mayRun) { return true }
    // A job that was selected without its needs runs.
    return switch condition {
    case .success: contains(.isUnsuccessful)
    case .failure: contains(.exists) && isDisjoint(with: [.isOpen, .hasFailed])
    case .always: false
    }
  }
}

extension JobOutcome {
  /// Returns the outcome of a job that waits for a failure, if no need has failed.
  static func withoutFailure(attemptCount: Int) -> JobOutcome {
    JobOutcome(
      state: .skipped, attemptCount: attemptCount, exitStatus: nil, origin: nil,
      reason: NoNeedHasFailed().description, lastLine: nil, duration: nil, isUnneeded: true)
  }

  /// Returns the outcome of a job behind a need whose process may still run.
  static func behindUnknown(attemptCount: Int) -> JobOutcome {
    JobOutcome(
      state: .skipped, attemptCount: attemptCount, exitStatus: nil, origin: nil,
      reason: NeedMayStillRun().description, lastLine: nil, duration: nil, isUnneeded: false)
  }

  /// Returns the outcome of a job that has failed for a reason that is a sentence.
  static func failure(_ reason: String, attemptCount: Int) -> JobOutcome {
    JobOutcome(
      state: .failed, attemptCount: attemptCount, exitStatus: nil, origin: nil, reason: reason,
      lastLine: nil, duration: nil, isUnneeded: false)
  }

  /// Returns the outcome of a job that must not run again until a user retries it. The reason contains the command for
  /// the retry, which has the path of the run: it finds the run from each working directory, also if the run is not the
  /// newest one.
  static func waiting(
    _ id: String, _ reason: ResumeResult.WaitReason, attemptCount: Int, in directory: RunDirectory
  ) -> JobOutcome {
    let cause =
      switch reason {
      case .lost: "its end is not known"
      case .changed: "it has changed since it ran"
      case .behindChange: "a job that it needs runs again"
      case .interrupted: "it was cancelled with the run"
      }
    return .failure(
      """
      \(cause), and it must not run twice; to run it again: \
      opq-top retry \(id.shellWord) --run \(directory.path.shellWord)
      """, attemptCount: attemptCount)
  }
}
