// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands

/// The rules of a resume, without files and processes. The time is linear in the size of the plan.
///
/// An outcome counts only as long as the definition of the job and the outcomes of its needs count. If it does not
/// count, the job is *reopened*: it runs again, and so does everything that has used its outcome. The journal has to
/// know this before anything starts. Otherwise a second resume would find an unchanged job behind a need that has
/// succeeded.
struct ResumeRules {
  let plan: JobPlan
  /// The directory of the run, whose path is a part of reasons.
  let directory: RunDirectory
  /// The definitions of the plan's jobs.
  let definitions: [String]
  let past: [PastJob]
  /// The jobs that run again because of a retry.
  let choice: RetryChoice.Choice
  /// The results of all jobs, in the order of the plan.
  private(set) var results: [ResumeResult] = []
  /// The facts that each job gives to the jobs that need it.
  private var facts: [NeedFacts] = []
  /// The facts about needs for several jobs.
  private var jointFacts: [Range<Int>: NeedFacts] = [:]
  /// The jobs that were cancelled because of a failure that no longer counts.
  private var released: Set<Int> = []
  private let isInChoice: [Bool]
  /// The indices of the origins of outcomes by their ids.
  private let origins: [String: Int]

  /// Decides about all jobs.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - directory: The directory of the run, whose path is a part of reasons.
  ///   - definitions: The definitions of the plan's jobs.
  ///   - past: What is known about the plan's jobs.
  ///   - choice: The jobs that run again because of a retry.
  init(
    _ plan: JobPlan, in directory: RunDirectory, definitions: [String], past: [PastJob],
    choice: RetryChoice.Choice = .init()
  ) {
    self.plan = plan
    self.directory = directory
    self.definitions = definitions
    self.past = past
    self.choice = choice
    var isInChoice = Array(repeating: false, count: plan.jobs.count)
    for index in choice.indices { isInChoice[index] = true }
    self.isInChoice = isInChoice
    let hasOrigins = past.contains { $0.outcome?.origin != nil }
    origins =
      hasOrigins ? Dictionary(plan.jobs.indices.map { (plan.jobs[$0].id, $0) }) { $1 } : [:]
    let order = plan.order
    // A cancelled job is released if the failure that has cancelled it no longer counts. The failed job is not a need
    // of the cancelled one, so it can get its result later. Therefore all decisions are made again after a release.
    // Each runner cancels jobs because of one failure at most, so there are few passes.
    repeat {
      results = Array(repeating: ResumeResult(.run), count: plan.jobs.count)
      facts = Array(repeating: [], count: plan.jobs.count)
      jointFacts = [:]
      for index in order {
        results[index] = decide(index)
        facts[index] = NeedFacts(results[index])
      }
    } while release()
  }

  /// Releases the jobs that were cancelled because of a failure that no longer counts.
  ///
  /// - Returns: Whether the decisions must be made again.
  private mutating func release() -> Bool {
    let count = released.count
    for (index, past) in past.enumerated() {
      guard let outcome = past.outcome, outcome.state == .cancelled, let origin = outcome.origin,
        !past.isByRun
      else { continue }
      // A job that must not run twice and has started stays cancelled.
      if plan.jobs[index].isOnce, past.attemptCount > 0 { continue }
      if origins[origin].map({ results[$0].state != .failed }) ?? true { released.insert(index) }
    }
    return released.count > count
  }

  /// Returns the facts about all needs of a job.
  private mutating func needFacts(of job: JobPlan.Job) -> NeedFacts {
    var all: NeedFacts = []
    for need in job.needs {
      if need.count == 1 {
        all.formUnion(facts[need.lowerBound])
      } else if let known = jointFacts[need] {
        all.formUnion(known)
      } else {
        let joint = facts[need].reduce(into: NeedFacts()) { $0.formUnion($1) }
        jointFacts[need] = joint
        all.formUnion(joint)
      }
    }
    return all
  }
}

extension ResumeRules {
  private mutating func decide(_ index: Int) -> ResumeResult {
    let needs = needFacts(of: plan.jobs[index])
    let past = past[index]
    var result: ResumeResult
    switch past.progress {
    case _ where isInChoice[index]:
      result = run(index, past.reopened, needs)
      result.isReopened = true
      let isRetried = choice.requested.contains(index)
      result.remark = result.state == .skipped ? .blocked : isRetried ? .retried : .behindRetry
    case .pending: result = run(index, past, needs)
    case .started(let finding): result = decide(index, startedWith: finding, needs)
    case .submitted(let submission): result = decide(index, submittedAs: submission, needs)
    case .ended(let outcome): result = decide(index, endedWith: outcome, needs)
    }
    result.isNew = past.isNew
    return result
  }

  /// Returns the result of a job that has not ended and has no attempt whose end is awaited.
  private func run(_ index: Int, _ past: PastJob, _ needs: NeedFacts) -> ResumeResult {
    let job = plan.jobs[index]
    var result = ResumeResult(.run)
    // The attempts of another definition do not count.
    let isOutdated = needs.contains(.isAgain) || past.definition != definitions[index]
    let counted = isOutdated ? 0 : past.failedAttemptCount
    result.lastAttempt = past.attemptCount + max(1, job.maximumAttempts - counted)
    // A second resume would not know that the failed attempts belong to an earlier outcome of a need.
    result.isReopened = needs.contains(.isAgain) && past.failedAttemptCount > 0
    result.isAgain = past.isAgain(as: definitions[index], behind: needs)
    guard needs.isSkipped(job.condition) else { return result }
    result.state = .skipped
    if let outcome = newOutcome(ofSkipped: job, needs, attemptCount: past.attemptCount) {
      result.verdict = .skip(outcome)
      result.lastAttempt = past.attemptCount
    }
    return result
  }

  /// Returns the outcome of a skipped job that a runner would start, because its needs have the state `failed`; `nil`
  /// if the runner skips the job itself.
  private func newOutcome(
    ofSkipped job: JobPlan.Job, _ needs: NeedFacts, attemptCount: Int
  ) -> JobOutcome? {
    if job.condition == .success { return nil }
    if needs.contains(.mayRun) { return .behindUnknown(attemptCount: attemptCount) }
    guard job.condition == .failure, needs.contains(.waits) else { return nil }
    return .withoutFailure(attemptCount: attemptCount)
  }

  /// Returns the result of a job with an attempt whose end is not in the journal.
  private func decide(
    _ index: Int, startedWith finding: ShimFinding, _ needs: NeedFacts
  ) -> ResumeResult {
    let job = plan.jobs[index]
    let past = past[index]
    let isChanged = past.isChanged(to: definitions[index])
    let isOutdated = isChanged || needs.isChange
    let lastAttempt = past.attemptCount + max(0, job.maximumAttempts - 1 - past.failedAttemptCount)
    var result = ResumeResult(.run)
    switch finding {
    case .alive(let shim):
      // A change does not end the command, which may have run for days. The job does not run again in this run.
      result.verdict = .adopt(shim)
      result.lastAttempt = isOutdated ? past.attemptCount : lastAttempt
      result.isOutdated = isOutdated
      let outdated = job.isOnce ? ResumeResult.Remark.adoptedOutdatedOnce : .adoptedOutdated
      result.remark = isOutdated ? outdated : .adopted
    case .ended where isOutdated:
      result = again(index, needs, isChanged ? .changed : .behindChange)
      result.isAgain = past.isAgain(as: definitions[index], behind: needs)
    case .ended(let status):
      result.verdict = .take(status: status)
      let isLast = past.attemptCount >= lastAttempt
      result.state = status == 0 ? .succeeded : isLast ? .failed : nil
      result.lastAttempt = lastAttempt
      result.remark = .taken
    case .lost:
      result = again(index, needs, .lost)
      result.isAgain = past.isAgain(as: definitions[index], behind: needs)
      result.isReopened = false
    case .orphaned(let process) where job.isOnce:
      result = unknown(
        index,
        "its shim was killed, but its command still runs as process \(process.id), and it must not"
          + " run twice; resume the run when the process has ended")
    case .orphaned:
      // No process would notice the end of the command, and its exit status is lost. So it is ended before the job
      // runs.
      result = again(index, needs, .lost)
      result.isAgain = past.isAgain(as: definitions[index], behind: needs)
      result.isReopened = false
      result.remark = result.state == .skipped ? .orphanedAndBlocked : .orphaned
    case .unknown(let sentence): result = unknown(index, sentence)
    }
    return result
  }

  /// Returns the result of a job with an attempt that was submitted to a cluster. The attempt is awaited even if the
  /// job has changed since then, because the command may already have run for days.
  private func decide(
    _ index: Int, submittedAs submission: SlurmSubmission, _ needs: NeedFacts
  ) -> ResumeResult {
    let job = plan.jobs[index]
    let past = past[index]
    var result = ResumeResult(.adoptSubmission(submission))
    result.isOutdated = past.isChanged(to: definitions[index]) || needs.isChange
    result.lastAttempt = past.attemptCount
    if !result.isOutdated {
      result.lastAttempt += max(0, job.maximumAttempts - 1 - past.failedAttemptCount)
    }
    let outdated = job.isOnce ? ResumeResult.Remark.submittedOutdatedOnce : .submittedOutdated
    result.remark = result.isOutdated ? outdated : .submitted
    return result
  }

  /// Returns the result of a job whose process may still run. Nothing is recorded, so that the next resume examines the
  /// process again.
  private func unknown(_ index: Int, _ sentence: String) -> ResumeResult {
    let attemptCount = past[index].attemptCount
    var result = ResumeResult(.keep(.failure(sentence, attemptCount: attemptCount)))
    result.state = .failed
    result.waits = true
    result.mayRun = true
    result.lastAttempt = attemptCount
    result.remark = .unknown(sentence)
    return result
  }

  /// Returns the result of a job that has ended.
  private func decide(
    _ index: Int, endedWith outcome: JobOutcome, _ needs: NeedFacts
  ) -> ResumeResult {
    let past = past[index]
    let isChanged = past.isChanged(to: definitions[index])
    if past.waits { return keep(index, outcome) }
    if past.isByRun {
      var result = again(index, needs, .interrupted)
      result.isAgain = past.isAgain(as: definitions[index], behind: needs)
      result.isReopened = false
      return result
    }
    if outcome.state == .skipped { return decide(index, skippedWith: outcome, needs) }
    if isChanged { return again(index, needs, .changed) }
    // A job that was cancelled before its start has not used its needs.
    let isBehindNew = needs.contains(.isNew) && outcome.attemptCount > 0
    if needs.contains(.isAgain) || isBehindNew || released.contains(index) {
      return again(index, needs, .behindChange)
    }
    return keep(index, outcome)
  }

  /// Returns the result of a skipped job. Its needs decide, and not its definition, because it has not run.
  private func decide(
    _ index: Int, skippedWith outcome: JobOutcome, _ needs: NeedFacts
  ) -> ResumeResult {
    guard needs.isSkipped(plan.jobs[index].condition) else {
      return again(index, needs, .behindChange)
    }
    guard let origin = outcome.origin else { return keep(index, outcome) }
    // The outcome names its origin. If another need prevents the start now, the outcome is made again.
    if let state = origins[origin].flatMap({ results[$0].state }), state != .succeeded {
      return keep(index, outcome)
    }
    var result = run(index, past[index].reopened, needs)
    result.isReopened = true
    return result
  }

  private func keep(_ index: Int, _ outcome: JobOutcome) -> ResumeResult {
    var result = ResumeResult(.keep(outcome))
    result.state = outcome.state
    result.waits = past[index].waits
    result.lastAttempt = past[index].attemptCount
    if result.waits { result.remark = .waits(nil) }
    return result
  }

  /// Returns the result of a job that has run and has to run again, or must not run again unasked.
  private func again(
    _ index: Int, _ needs: NeedFacts, _ reason: ResumeResult.WaitReason
  ) -> ResumeResult {
    let job = plan.jobs[index]
    let past = past[index]
    guard job.isOnce, past.attemptCount > 0 else {
      var result = run(index, past.reopened, needs)
      result.isAgain = true
      result.isReopened = true
      result.remark = result.state == .skipped ? .blocked : reason.remark
      return result
    }
    var result = ResumeResult(
      .wait(.waiting(job.id, reason, attemptCount: past.attemptCount, in: directory)))
    result.state = .failed
    result.waits = true
    result.lastAttempt = past.attemptCount
    result.remark = .waits(reason)
    // Jobs that have used a success cannot keep their outcomes. For them, another outcome was as good as this one.
    result.isAgain = past.outcome?.state == .succeeded
    return result
  }
}

extension PastJob {
  /// Whether the job has started or ended with another definition.
  fileprivate func isChanged(to new: String) -> Bool { definition.map { $0 != new } ?? false }

  /// Whether jobs that have used an earlier outcome of this job, which has no outcome now, run again.
  fileprivate func isAgain(as definition: String, behind needs: NeedFacts) -> Bool {
    if needs.contains(.isAgain) { return true }
    // A job that has not run has no result that can change.
    return hasEnded && (needs.contains(.isNew) || attemptCount > 0 && isChanged(to: definition))
  }
}
