// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import MonitorProtocol
import OperationsCommands
import OperationsCore

/// How a job has ended.
package struct JobOutcome: Hashable, Sendable {
  /// The ways in which a job ends.
  package enum State: String, CaseIterable, Sendable {
    /// The command has ended with the exit status 0.
    case succeeded
    /// The last attempt has failed.
    case failed
    /// The job has not run because of its needs.
    case skipped
    /// The job was cancelled, before or after its start.
    case cancelled
  }

  /// How the job has ended.
  package let state: State
  /// The number of attempts that were started, also by earlier runners and before a retry; 0 if the job has never run.
  package let attemptCount: Int
  /// The exit status of the last attempt's command; `nil` if the command did not end by itself.
  package let exitStatus: Int32?
  /// The id of the job because of which this job was skipped or cancelled; `nil` if there is none.
  package let origin: String?
  /// Why the job has not succeeded, as words that follow the name and the state of the job, such as `exit status 2`;
  /// `nil` if it has succeeded. The text is unsanitised.
  package let reason: String?
  /// The last line of the command's output; `nil` if there is none. The text is unsanitised.
  package let lastLine: String?
  /// The time from the start of the first attempt that the last runner of the job has started or adopted; `nil` if
  /// there is no such attempt.
  package let duration: Duration?
  /// Whether the run can be successful although this job has not run: no need has failed, and the job waits for a
  /// failure. The same is true for jobs that need such a job.
  package let isUnneeded: Bool

  /// Whether the job does not prevent the success of the run.
  package var isHarmless: Bool { state == .succeeded || isUnneeded }

  /// The outcome as one sentence. Characters that control a terminal are escaped.
  ///
  /// - Parameter id: The id of the job.
  /// - Returns: A sentence such as `align[2] failed: exit status 1: no such file`.
  package func sentence(for id: String) -> String {
    let verb = state == .skipped || state == .cancelled ? "was " : ""
    let cause = reason.map { ": \($0)" } ?? ""
    return EscapedText.escaped("\(id) \(verb)\(state.rawValue)\(cause)")
  }
}

/// The reason of the cancellation of a job that waits for a failure, if no need has failed.
struct NoNeedHasFailed: Error, CustomStringConvertible {
  let description = "no need has failed"
}

/// The reason of the cancellation of a job that starts after the end of its needs, if the process of a need may still
/// run.
struct NeedMayStillRun: Error, CustomStringConvertible {
  let description = "it is not known if a job that it needs still runs"
}

/// The reason of the cancellation of a job that requires the success of a need that has ended before the job had an
/// operation, because the need does not run again or has ended in an earlier runner.
struct NeedHasNotSucceeded: Error, CustomStringConvertible {
  /// The id of the job because of which the job is skipped.
  let origin: String
  let description: String
  /// The same as ``JobOutcome/isUnneeded``.
  let isUnneeded: Bool

  /// Creates the reason for a need; `nil` if the need has succeeded.
  ///
  /// - Parameters:
  ///   - need: The outcome of the need.
  ///   - id: The id of the need.
  init?(_ need: JobOutcome, of id: String) {
    switch need.state {
    case .succeeded: return nil
    case .failed: (origin, description) = (id, "\(id) failed")
    case .cancelled: (origin, description) = (id, "\(id) was cancelled")
    case .skipped:
      origin = need.origin ?? id
      description = need.origin == nil ? "\(id) was skipped" : need.reason ?? "\(id) was skipped"
    }
    isUnneeded = need.isUnneeded
  }
}

/// The reason of the cancellation of an operation that another operation of the same job has replaced.
struct OperationWasReplaced: Error, CustomStringConvertible {
  let description = "another operation of the job has replaced it"
}

/// The reason of the cancellation of a job whose needs have not ended, because a user has cancelled the operation that
/// waits for them.
struct NeedsHaveNotEnded: Error, CustomStringConvertible {
  let description = "the wait for its needs was cancelled"
}

/// The reason of the cancellation of all jobs after the first failure.
struct AnotherJobHasFailed: Error, CustomStringConvertible {
  let origin: String

  var description: String { "\(origin) failed, and --fail-fast cancels the other jobs" }
}

/// The reason of the cancellation of all jobs of a run.
package struct RunWasCancelled: Error, CustomStringConvertible {
  /// The reason as words that follow a colon.
  package let description: String

  /// Creates a reason, such as `the run was interrupted`.
  package init(_ description: String) { self.description = description }
}

extension JobOutcome {
  /// The facts that a run has stored about a job.
  struct Facts {
    let attemptCount: Int
    let lastLine: String?
    let duration: Duration?
  }

  /// Creates the outcome of a finished operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - job: The job; `nil` if the plan no longer has it.
  ///   - facts: What the run has stored about the job.
  init(of operation: AttemptOperation, _ job: JobPlan.Job?, _ facts: Facts) {
    var (state, exitStatus, origin) = (State.succeeded, Int32?.none, String?.none)
    var reason: String?
    switch (operation.isCancelled, operation.result) {
    case (false, .success?), (false, nil):
      exitStatus = 0
    // The journal cannot be written, so the command was not started.
    case (false, .failure(let error as RunFailure)?):
      (state, reason) = (.cancelled, "\(error)")
    case (false, .failure(let error)?):
      state = .failed
      exitStatus = (error as? CommandError)?.exitStatus
      reason = Self.words(about: error, of: job, lastLine: facts.lastLine)
    case (true, _):
      (state, origin, reason) = Self.cancellation(of: operation)
    }
    let cause = (operation.error as? OperationDependencyError)?.underlyingError ?? operation.error
    let isUnneeded =
      cause is NoNeedHasFailed || (cause as? NeedHasNotSucceeded)?.isUnneeded == true
    self.init(
      state: state, attemptCount: facts.attemptCount, exitStatus: exitStatus, origin: origin,
      reason: reason, lastLine: facts.lastLine, duration: facts.duration,
      isUnneeded: state == .skipped && isUnneeded)
  }

  private static func cancellation(
    of operation: AttemptOperation
  ) -> (State, origin: String?, reason: String?) {
    guard let error = operation.error else { return (.cancelled, nil, nil) }
    switch error {
    case let error as OperationDependencyError where error.underlyingError is NeedHasNotSucceeded:
      let need = error.underlyingError as? NeedHasNotSucceeded
      return (.skipped, need?.origin, need?.description)
    case let error as OperationDependencyError:
      let origin = error.origin.name ?? error.origin.description
      let cause =
        switch error.underlyingError {
        case is NoNeedHasFailed, is NeedMayStillRun: "was skipped"
        case is RunWasCancelled, is AnotherJobHasFailed, is NeedsHaveNotEnded, is CancellationError,
          is RunFailure, nil:
          "was cancelled"
        case let error as CommandError where error.code == .stillAlive: "was cancelled"
        default: "failed"
        }
      return (.skipped, origin, "\(origin) \(cause)")
    case let error as NoNeedHasFailed: return (.skipped, nil, "\(error)")
    case let error as NeedMayStillRun: return (.skipped, nil, "\(error)")
    case let error as NeedHasNotSucceeded: return (.skipped, error.origin, "\(error)")
    case let error as AnotherJobHasFailed: return (.cancelled, error.origin, "\(error)")
    case let error as CommandError: return (.cancelled, nil, "\(error)")
    case is CancellationError: return (.cancelled, nil, nil)
    default: return (.cancelled, nil, "\(error)")
    }
  }

  /// Why an attempt has failed, as ``reason`` says it.
  static func words(
    about error: any Error, of job: JobPlan.Job?, lastLine: String?
  ) -> String {
    switch error {
    case let error as CommandError:
      if let status = error.exitStatus {
        return "exit status \(status)" + error.lastLine.map { ": \($0)" }.orEmpty
      }
      let text = error.description
      let subject = "“\(error.commandName)” "
      return text.hasPrefix(subject) ? String(text.dropFirst(subject.count)) : text
    case is OperationTimeoutError:
      return "an attempt took longer than \(TimeText.duration(job?.timeout ?? .zero))"
        + lastLine.map { ": \($0)" }.orEmpty
    default: return "\(error)"
    }
  }
}

extension String? {
  /// The text, or an empty one.
  fileprivate var orEmpty: String { self ?? "" }
}
