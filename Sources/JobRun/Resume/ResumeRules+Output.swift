// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands

extension ResumeRules {
  /// The definition of an attempt that still runs although a need has changed. It differs from all definitions, so the
  /// job runs again at the next resume.
  static let outdatedDefinition = "outdated"

  /// The results as decisions.
  func decisions(_ history: RunHistory) -> [Resumption.Decision] {
    plan.jobs.indices.map { index in
      let result = results[index]
      let start = history.jobs[plan.jobs[index].id]?.lastStart
      switch result.verdict {
      case .run: return .run(firstAttempt: past[index].attemptCount + 1)
      case .keep(let outcome), .skip(let outcome): return .keep(outcome)
      case .wait(let outcome): return .wait(outcome)
      case .adopt(let shim):
        let files = directory.files(named: start?.files ?? "")
        return .adopt(attempt: past[index].attemptCount, files: files, shim: shim)
      case .adoptSubmission(let submission):
        return .adoptSubmission(
          attempt: past[index].attemptCount, files: start?.files ?? "", submission: submission)
      case .take(let status):
        let files = directory.files(named: start?.files ?? "")
        return .take(attempt: past[index].attemptCount, files: files, status: status)
      }
    }
  }

  /// The definitions that the start and end records of this runner have.
  var recordedDefinitions: [String] {
    results.indices.map { index in
      let definition = definitions[index]
      // Only an attempt that is adopted can be outdated.
      guard results[index].isOutdated else { return definition }
      let started = past[index].definition ?? definition
      return started == definition ? Self.outdatedDefinition : started
    }
  }

  /// The records that must be in the journal before anything starts.
  func records(_ history: RunHistory) -> [JournalRecord] {
    let reopened = results.indices.filter { results[$0].isReopened }
    var records =
      reopened.isEmpty ? [] : [JournalRecord.retry(reopened.map { plan.jobs[$0].id })]
    let recorded = recordedDefinitions
    for (index, result) in results.enumerated() {
      let id = plan.jobs[index].id
      switch result.verdict {
      case .run, .keep, .take: break
      case .adopt, .adoptSubmission:
        // If the job itself has changed, the record of its start says so.
        guard recorded[index] == Self.outdatedDefinition, past[index].definition != recorded[index],
          let start = history.jobs[id]?.lastStart
        else { continue }
        var record = JournalRecord.start(
          id, attempt: start.attempt, files: start.files, definition: recorded[index],
          submission: start.submission)
        record.time = start.time
        records.append(record)
      case .skip(let outcome):
        records.append(.end(id, outcome, definition: definitions[index]))
      case .wait(let outcome):
        // The jobs behind it have used the earlier definition, so a retry of this job also changes them.
        let definition = past[index].definition ?? definitions[index]
        records.append(.end(id, outcome, definition: definition, waits: true))
      }
    }
    return records
  }

  /// The indices of the jobs that are certainly skipped, and do not keep an earlier outcome.
  var skippedJobs: Set<Int> {
    Set(
      results.indices.filter { index in
        switch results[index].verdict {
        case .run, .skip: results[index].state == .skipped
        case .keep, .adopt, .adoptSubmission, .take, .wait: false
        }
      })
  }

  /// The reasons for which it is not known whether the processes of jobs still run, by the indices of the jobs.
  var unknownJobs: [Int: String] {
    var unknown: [Int: String] = [:]
    for (index, result) in results.enumerated() {
      if case .unknown(let sentence) = result.remark { unknown[index] = sentence }
    }
    return unknown
  }

  /// The first processes of the commands that are ended before their jobs run again, by the indices of the jobs.
  var orphans: [Int: ProcessIdentity] {
    var orphans: [Int: ProcessIdentity] = [:]
    for (index, past) in past.enumerated() {
      guard case .started(.orphaned(let process)) = past.progress else { continue }
      switch results[index].verdict {
      case .run, .skip: orphans[index] = process
      case .keep, .adopt, .adoptSubmission, .take, .wait: break
      }
    }
    return orphans
  }

  /// The first job that has failed in earlier runners and keeps this outcome; `nil` if there is none, or if a user has
  /// retried jobs or changed the job file since then.
  func firstFailure(_ history: RunHistory, _ records: [JournalRecord]) -> Int? {
    let ids = history.failuresSinceRetry
    if ids.isEmpty || records.contains(where: { $0.event == .retry }) { return nil }
    let indices = Dictionary(plan.jobs.indices.map { (plan.jobs[$0].id, $0) }) { $1 }
    return ids.lazy.compactMap { indices[$0] }.first { index in
      guard case .keep(let outcome) = results[index].verdict else { return false }
      return outcome.state == .failed && !results[index].waits
    }
  }

  /// The states of the jobs at the time of a retry.
  var retryStates: [RetryChoice.State] {
    results.indices.map { index in
      switch results[index].verdict {
      case .keep(let outcome):
        if case .unknown(let sentence) = results[index].remark { return .unknown(sentence) }
        return .ended(outcome)
      case .skip(let outcome), .wait(let outcome): return .ended(outcome)
      case .adopt, .adoptSubmission: return .running
      case .take(let status):
        guard results[index].state != nil else { return .running }
        return .ended(.taken(status, attemptCount: past[index].attemptCount))
      case .run: return retryState(ofReopened: index)
      }
    }
  }

  /// The state of a job that runs without a retry. A retry of it is accepted if it would be accepted without a change.
  private func retryState(ofReopened index: Int) -> RetryChoice.State {
    let past = past[index]
    switch past.progress {
    case .ended(let outcome) where outcome.state == .failed || outcome.state == .cancelled:
      return .ended(outcome)
    case .started:
      return .ended(.failure("its end is not known", attemptCount: past.attemptCount))
    case .pending, .submitted, .ended: return .waiting
    }
  }
}

extension JobOutcome {
  /// Returns the outcome of a job whose command has ended with a status.
  fileprivate static func taken(_ status: Int32, attemptCount: Int) -> JobOutcome {
    JobOutcome(
      state: status == 0 ? .succeeded : .failed, attemptCount: attemptCount, exitStatus: status,
      origin: nil, reason: nil, lastLine: nil, duration: nil, isUnneeded: false)
  }
}
