// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles
import MonitorProtocol

/// Chooses the jobs that run again if a user retries some jobs.
///
/// These are the retried jobs, the jobs that were skipped or cancelled because of them, directly or indirectly, and the
/// jobs with the condition `always` that need a job that runs again. No other job runs again. A job that must not run
/// twice and has started runs again only if a user retries this job. The time is linear in the size of the plan.
package struct RetryChoice: Sendable {
  /// The state of a job at the time of the retry.
  package enum State: Hashable, Sendable {
    /// The job has not ended. It runs or is skipped without a retry.
    case waiting
    /// The job executes, or it waits between two attempts.
    case running
    /// The process of the job may still run. The value is the reason as one sentence.
    case unknown(String)
    /// The job has ended.
    case ended(JobOutcome)
  }

  /// The jobs that run again.
  package struct Choice: Hashable, Sendable {
    /// The indices of all jobs that run again, in ascending order.
    package internal(set) var indices: [Int] = []
    /// The indices of the retried jobs that run again.
    package internal(set) var requested: Set<Int> = []
    /// For each retried id whose job does not run again, the reason as one sentence without a full stop. The text is
    /// unsanitised.
    package internal(set) var refusals: [String: String] = [:]
  }

  let plan: JobPlan
  let states: [State]

  /// Creates a choice.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - states: The states of all jobs, in the order of the plan.
  package init(_ plan: JobPlan, states: [State]) {
    self.plan = plan
    self.states = states
  }

  /// Returns the jobs that run again if a user retries some jobs.
  ///
  /// A job that must not run again is refused: it has succeeded, has not ended, was skipped, or does not exist. A
  /// skipped job is accepted if the job because of which it was skipped is retried too.
  ///
  /// - Parameter ids: The ids of the retried jobs.
  /// - Returns: The jobs, and the reasons for which retried jobs do not run again.
  package func choice(for ids: [String]) -> Choice {
    var choice = Choice()
    var skipped: [Int] = []
    let wanted = Set(ids)
    var known: Set<String> = []
    for (index, job) in plan.jobs.enumerated() where wanted.contains(job.id) {
      known.insert(job.id)
      if case .ended(let outcome) = states[index], outcome.state == .skipped {
        skipped.append(index)
      } else if let refusal = refusal(of: index) {
        choice.refusals[job.id] = refusal
      } else {
        choice.requested.insert(index)
      }
    }
    var search = RetrySearch(plan, states)
    search.addAll(choice.requested)
    search.addAll(search.unblocked(skipped))
    for index in skipped {
      if search.runsAgain[index] {
        choice.requested.insert(index)
      } else {
        choice.refusals[plan.jobs[index].id] = refusal(ofSkipped: index)
      }
    }
    for id in wanted.subtracting(known) {
      choice.refusals[id] = refusal(ofUnknown: id)
    }
    choice.indices = plan.jobs.indices.filter { search.runsAgain[$0] }
    return choice
  }

  /// Returns why a job that was not skipped must not run again; `nil` if it can.
  private func refusal(of index: Int) -> String? {
    let id = plan.jobs[index].id
    switch states[index] {
    case .waiting: return "\(id) has not ended; it runs without a retry if its needs permit it"
    case .running: return "\(id) is running"
    case .unknown(let sentence): return "\(id): \(sentence)"
    case .ended(let outcome):
      guard outcome.state == .succeeded else { return nil }
      return "\(id) has succeeded; only jobs that have failed or were cancelled run again"
    }
  }

  private func refusal(ofSkipped index: Int) -> String {
    let id = plan.jobs[index].id
    guard case .ended(let outcome) = states[index] else { return "\(id) was skipped" }
    let cause = outcome.reason.map { ", because \($0)" } ?? ""
    return "\(id) was skipped\(cause)" + (outcome.origin.map { "; retry \($0) instead" } ?? "")
  }

  private func refusal(ofUnknown id: String) -> String {
    let group = plan.jobs.lazy.filter { $0.group == id }.map(\.id).prefix(2)
    if let first = group.first { return "\(id) is the name of several jobs, such as \(first)" }
    let nearest = NearestName.nearest(to: id, in: plan.jobs.lazy.map(\.id), limit: 2)
    return "there is no job \(id)" + (nearest.map { "; did you mean \($0)?" } ?? "")
  }
}

/// The search for the jobs that run again because of a retry. Each job and each need for several jobs is visited once.
private struct RetrySearch {
  let plan: JobPlan
  let states: [RetryChoice.State]
  /// Whether each job runs again.
  private(set) var runsAgain: [Bool]
  /// The distinct needs.
  private var ranges: [Range<Int>] = []
  /// The jobs that have each of the needs.
  private var dependents: [[Int]] = []
  /// The needs that contain each job.
  private var needs: [[Int]]
  private var isVisited: [Bool]
  /// The jobs that were cancelled because of the failure of each job.
  private var cancelled: [String: [Int]] = [:]

  init(_ plan: JobPlan, _ states: [RetryChoice.State]) {
    self.plan = plan
    self.states = states
    runsAgain = Array(repeating: false, count: plan.jobs.count)
    needs = Array(repeating: [], count: plan.jobs.count)
    var numbers: [Range<Int>: Int] = [:]
    for (index, job) in plan.jobs.enumerated() {
      for need in job.needs {
        let number = numbers[need] ?? ranges.count
        if number == ranges.count {
          numbers[need] = number
          ranges.append(need)
          dependents.append([])
        }
        dependents[number].append(index)
      }
      if case .ended(let outcome) = states[index], outcome.state == .cancelled,
        let origin = outcome.origin
      {
        cancelled[origin, default: []].append(index)
      }
    }
    for (number, range) in ranges.enumerated() {
      for index in range { needs[index].append(number) }
    }
    isVisited = Array(repeating: false, count: ranges.count)
  }

  /// Adds jobs, and the jobs that run again because of them.
  mutating func addAll(_ indices: some Sequence<Int>) {
    var found: [Int] = []
    for index in indices where !runsAgain[index] {
      runsAgain[index] = true
      found.append(index)
    }
    while let index = found.popLast() {
      var next = cancelled.removeValue(forKey: plan.jobs[index].id) ?? []
      next.removeAll { isOnceAndStarted($0) }
      for number in needs[index] where !isVisited[number] {
        isVisited[number] = true
        next += dependents[number].filter(runsAgainWithNeed)
      }
      for index in next where !runsAgain[index] {
        runsAgain[index] = true
        found.append(index)
      }
    }
  }

  /// Returns whether a job runs again if one of its needs does.
  private func runsAgainWithNeed(_ index: Int) -> Bool {
    guard case .ended(let outcome) = states[index], !isOnceAndStarted(index) else { return false }
    return outcome.state == .skipped || plan.jobs[index].condition == .always
  }

  private func isOnceAndStarted(_ index: Int) -> Bool {
    guard plan.jobs[index].isOnce, case .ended(let outcome) = states[index] else { return false }
    return outcome.attemptCount > 0
  }

  /// Returns the jobs without those that would certainly be skipped.
  func unblocked(_ indices: [Int]) -> [Int] {
    var known: [Range<Int>: NeedFacts] = [:]
    return indices.filter { index in
      let job = plan.jobs[index]
      var all: NeedFacts = []
      for need in job.needs {
        let joint = known[need] ?? need.reduce(into: []) { $0.formUnion(facts(about: $1)) }
        known[need] = joint
        all.formUnion(joint)
      }
      return !all.isSkipped(job.condition)
    }
  }

  private func facts(about index: Int) -> NeedFacts {
    if runsAgain[index] { return NeedFacts(nil) }
    return switch states[index] {
    case .waiting, .running: NeedFacts(nil)
    case .unknown: [.exists, .mayRun]
    case .ended(let outcome): NeedFacts(outcome.state)
    }
  }
}
