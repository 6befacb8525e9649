// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands

@testable import JobRun

/// A second implementation of the rules of a resume. It goes from each job to its needs, and is slow.
final class NaiveResume {
  /// What is true for a job.
  struct Fate: Equatable {
    var words: String
    /// The state in which the job ends for certain.
    var end: JobOutcome.State?
    /// Whether jobs that have used an earlier outcome of this job run again.
    var isAgain = false
    var isNew = false
    var isUnsettled = false
    var mayRun = false
    var isReopened = false
  }

  private let plan: JobPlan
  private let definitions: [String]
  private let past: [PastJob]
  private let repeated: Set<Int>
  private var known: [Int: Fate] = [:]

  init(_ plan: JobPlan, _ definitions: [String], _ past: [PastJob], repeated: Set<Int>) {
    self.plan = plan
    self.definitions = definitions
    self.past = past
    self.repeated = repeated
  }

  func fate(of index: Int) -> Fate {
    if let fate = known[index] { return fate }
    let fate = newFate(of: index)
    known[index] = fate
    return fate
  }

  private func needs(of index: Int) -> [Fate] {
    plan.jobs[index].needs.flatMap { need in need.map { fate(of: $0) } }
  }

  /// Whether the needs of a job, all of which have ended, or one of which has not succeeded, prevent its start.
  private func isSkipped(_ index: Int) -> Bool {
    let needs = needs(of: index)
    if needs.contains(where: \.mayRun) { return true }
    switch plan.jobs[index].condition {
    case .success: return needs.contains { $0.end != nil && $0.end != .succeeded }
    case .failure:
      return !needs.isEmpty && needs.allSatisfy { $0.end != nil }
        && !needs.contains { $0.end == .failed && !$0.isUnsettled }
    case .always: return false
    }
  }

  private func newFate(of index: Int) -> Fate {
    let job = past[index]
    var fate = oldFate(of: index)
    let endCounts = job.outcome != nil && !job.isByRun
    fate.isNew = !endCounts && !job.hasEnded
    return fate
  }

  private func oldFate(of index: Int) -> Fate {
    let job = past[index]
    let needs = needs(of: index)
    let needsAgain = needs.contains(where: \.isAgain)
    let needsNew = needs.contains(where: \.isNew)
    let isChanged = job.definition != nil && job.definition != definitions[index]
    let passesOn =
      needsAgain || needsNew && job.hasEnded || isChanged && job.hasEnded && job.attemptCount > 0
    if repeated.contains(index) { return starts(index, isAgain: passesOn, isReopened: true) }
    switch job.progress {
    case .pending:
      return starts(
        index, isAgain: passesOn, isReopened: needsAgain && job.failedAttemptCount > 0)
    case .started(.alive): return Fate(words: "adopt \(job.attemptCount)")
    case .submitted: return Fate(words: "await \(job.attemptCount)")
    case .started(.orphaned) where plan.jobs[index].isOnce, .started(.unknown):
      return Fate(words: "keep failed", end: .failed, isUnsettled: true, mayRun: true)
    case .started(.lost), .started(.orphaned):
      return startsAgain(index, isAgain: passesOn, isReopened: false)
    case .started(.ended(let status)):
      if isChanged || needsAgain || needsNew {
        return startsAgain(index, isAgain: passesOn, isReopened: true)
      }
      let left = plan.jobs[index].maximumAttempts - 1 - job.failedAttemptCount
      return Fate(
        words: "take \(job.attemptCount) with \(status)",
        end: status == 0 ? .succeeded : left > 0 ? nil : .failed)
    case .ended(let outcome):
      let kept = Fate(words: "keep \(outcome.state.rawValue)", end: outcome.state)
      if job.waits { return Fate(words: kept.words, end: kept.end, isUnsettled: true) }
      if job.isByRun { return startsAgain(index, isAgain: passesOn, isReopened: false) }
      if outcome.state == .skipped {
        guard isSkipped(index) else { return startsAgain(index, isAgain: true, isReopened: true) }
        let origin = outcome.origin.flatMap { id in plan.jobs.firstIndex { $0.id == id } }
        let end = origin.flatMap { fate(of: $0).end }
        if outcome.origin == nil || end != nil && end != .succeeded { return kept }
        return starts(index, isAgain: passesOn, isReopened: true)
      }
      let isOutdated = isChanged || needsAgain || needsNew && outcome.attemptCount > 0
      return isOutdated ? startsAgain(index, isAgain: true, isReopened: true) : kept
    }
  }

  /// The fate of a job that has run and has to run again.
  private func startsAgain(_ index: Int, isAgain: Bool, isReopened: Bool) -> Fate {
    if plan.jobs[index].isOnce, past[index].attemptCount > 0 {
      var hadSuccess = false
      if case .ended(let outcome) = past[index].progress {
        hadSuccess = outcome.state == .succeeded
      }
      let isEnded = past[index].outcome != nil && !past[index].isByRun
      return Fate(
        words: "wait", end: .failed, isAgain: isEnded ? hadSuccess : isAgain, isUnsettled: true)
    }
    return starts(index, isAgain: isAgain, isReopened: isReopened)
  }

  private func starts(_ index: Int, isAgain: Bool, isReopened: Bool) -> Fate {
    let isSkipped = isSkipped(index)
    let isUnsettled = needs(of: index).contains(where: \.isUnsettled)
    let mayRun = needs(of: index).contains(where: \.mayRun)
    let isKept =
      isSkipped
      && (plan.jobs[index].condition == .failure && isUnsettled
        || plan.jobs[index].condition != .success && mayRun)
    return Fate(
      words: isKept ? "keep skipped" : "run \(past[index].attemptCount + 1)",
      end: isSkipped ? .skipped : nil, isAgain: isAgain, isReopened: isReopened)
  }
}

/// The choice of a retry, written a second time: a job is examined until nothing changes.
enum NaiveRetry {
  /// Returns the jobs that run again if jobs are retried, if none of them is refused or was skipped.
  static func repeated(
    _ plan: JobPlan, _ states: [RetryChoice.State], requested: Set<Int>
  ) -> Set<Int> {
    var repeated = requested
    while true {
      let more = plan.jobs.indices.filter { index in
        guard !repeated.contains(index), case .ended(let outcome) = states[index] else {
          return false
        }
        if plan.jobs[index].isOnce, outcome.attemptCount > 0 { return false }
        if outcome.state == .cancelled, let origin = outcome.origin,
          repeated.contains(where: { plan.jobs[$0].id == origin })
        {
          return true
        }
        return (outcome.state == .skipped || plan.jobs[index].condition == .always)
          && plan.jobs[index].needs.contains { $0.contains { repeated.contains($0) } }
      }
      if more.isEmpty { return repeated }
      repeated.formUnion(more)
    }
  }
}
