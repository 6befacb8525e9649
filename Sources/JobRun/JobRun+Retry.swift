// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCore

extension JobRun {
  /// Retries jobs of a run that has started. Any number of jobs can still run, and all jobs can have ended.
  ///
  /// If a job is retried, it runs again, and so do the jobs that were skipped or cancelled because of it, and the jobs
  /// with the condition `always` that need a job that runs again. No other job runs again. The attempts continue their
  /// numbers.
  ///
  /// - Parameter ids: The ids of the jobs.
  /// - Returns: The jobs that run again, and the reasons for which other jobs do not.
  package func retryPossible(_ ids: [String]) -> RetryChoice.Choice {
    noteFinishedJobs(ids)
    while true {
      let view = RetryView(plan, state, unknown: resumption.unknownJobs)
      if let obstacle = view.obstacle {
        var choice = RetryChoice.Choice()
        for id in ids { choice.refusals[id] = obstacle }
        return choice
      }
      let choice = view.choice(for: ids)
      // If a job has started or ended, or another retry has begun, since the view was made, a new view is made.
      if choice.indices.isEmpty || runAgain(choice, view) { return choice }
    }
  }

  /// Notes the ends of the jobs whose operations have finished, although their completion blocks may run later.
  private func noteFinishedJobs(_ ids: [String]) {
    let running = state.withLock { state in
      state.phase == .started ? state.running.values.flatMap { Array($0) } : []
    }
    for index in running { noteEnd(of: index) }
    guard state.withLock({ $0.phase == .started }) else { return }
    for index in ids.compactMap(index(ofJob:)) { noteEnd(of: index) }
  }

  /// Replaces the operations of jobs.
  ///
  /// - Returns: Whether the jobs run again; `false` if the view is no longer true.
  private func runAgain(_ choice: RetryChoice.Choice, _ view: RetryView) -> Bool {
    let indices = view.renewed(choice.indices)
    let ticket = view.lastTicket + 1
    let jobs = indices.map { index in
      let count = view.attemptCount(of: index)
      let series = AttemptSeries(first: count + 1, last: count + plan.jobs[index].maximumAttempts)
      let operation = operation(of: index, series, ticket: ticket)
      let job = Job(
        operation: operation, ticket: ticket, attemptCount: count, definition: definition(of: index)
      )
      return (index, job)
    }
    let record = stamped(.retry(indices.map { plan.jobs[$0].id }))
    let old = state.withLock { state -> RetryView.Replaced? in
      guard view.isTrue(state, of: indices) else { return nil }
      let old = state.replace(jobs, keepsEvents: options.keepsEvents)
      state.records.entries.append(JournalLine.Entry(record: record))
      return old
    }
    guard let old else { return false }
    handOver()
    for operation in old.operations { operation.cancel(with: OperationWasReplaced()) }
    var needs = JobNeeds(run: self, operations: old.current, outcomes: old.outcomes)
    needsQueue.addOperations(needs.connect(indices))
    enqueue(jobs.map { ($0, $1.operation) })
    wake()
    return true
  }
}

/// The state of a run at one moment, for the decision about a retry. The decision takes too long for the lock of the
/// run.
struct RetryView {
  /// The operations that a retry has replaced, and the state after this.
  struct Replaced {
    /// The replaced operations, which have not started.
    var operations: [JobOperation] = []
    /// The operations of all jobs that have not ended.
    let current: [JobOperation?]
    let outcomes: [JobOutcome?]
  }

  let plan: JobPlan
  /// Why no job can be retried, as one sentence.
  let obstacle: String?
  let lastTicket: Int
  /// The jobs whose processes may still run, with the reasons.
  private let unknown: [Int: String]
  private let jobs: [JobRun.Job?]
  private let outcomes: [JobOutcome?]

  init(_ plan: JobPlan, _ state: borrowing Locked<JobRun.State>, unknown: [Int: String]) {
    self.plan = plan
    self.unknown = unknown
    (jobs, outcomes, lastTicket, obstacle) = state.withLock {
      ($0.jobs, $0.outcomes, $0.lastTicket, $0.obstacleToRetry)
    }
  }

  func attemptCount(of index: Int) -> Int {
    jobs[index]?.attemptCount ?? outcomes[index]?.attemptCount ?? 0
  }

  /// Returns the jobs that run again. If a job that has started uses the old result of one of them, no job runs again.
  func choice(for ids: [String]) -> RetryChoice.Choice {
    let states = plan.jobs.indices.map { index -> RetryChoice.State in
      if let reason = unknown[index] { return .unknown(reason) }
      if let outcome = outcomes[index] { return .ended(outcome) }
      return jobs[index]?.mayRun == true ? .running : .waiting
    }
    var choice = RetryChoice(plan, states: states).choice(for: ids)
    guard let user = firstUser(of: choice.indices) else { return choice }
    for index in choice.requested {
      let (id, other) = (plan.jobs[index].id, plan.jobs[user].id)
      let failure = RunFailure(
        "\(id) cannot run again until \(other) has ended, which uses its result")
      choice.refusals[id] = failure.description
    }
    return RetryChoice.Choice(requested: [], refusals: choice.refusals)
  }

  /// Returns a job that has started, has not ended, and needs one of several jobs.
  private func firstUser(of indices: [Int]) -> Int? {
    var search = NeedSearch(plan, indices)
    return plan.jobs.indices.first { jobs[$0]?.mayRun == true && search.needsMember($0) }
  }

  /// Returns the jobs that run again, and the jobs that wait for them and have not started. Their operations depend on
  /// operations that have finished, so they get new ones too.
  func renewed(_ indices: [Int]) -> [Int] {
    var search = NeedSearch(plan, indices)
    guard jobs.contains(where: { $0 != nil }) else { return indices }
    for index in plan.order where !search.isMember[index] {
      if let job = jobs[index], !job.mayRun, search.needsMember(index) { search.insert(index) }
    }
    return plan.jobs.indices.filter { search.isMember[$0] }
  }

  /// Whether this view is still true for the jobs that run again.
  func isTrue(_ state: JobRun.State, of indices: [Int]) -> Bool {
    guard state.lastTicket == lastTicket, state.obstacleToRetry == nil else { return false }
    return indices.allSatisfy { index in
      guard jobs[index] != nil else { return true }
      if let job = state.jobs[index] { return !job.mayRun }
      // A job that was skipped in the meantime has not run.
      return state.outcomes[index]?.state == .skipped
    }
  }
}

/// The jobs of a set, and the jobs that need one of them. Each need for several jobs is examined once.
private struct NeedSearch {
  let plan: JobPlan
  private(set) var isMember: [Bool]
  private var known: [Range<Int>: Bool] = [:]

  init(_ plan: JobPlan, _ indices: [Int]) {
    self.plan = plan
    isMember = Array(repeating: false, count: plan.jobs.count)
    for index in indices { isMember[index] = true }
  }

  mutating func insert(_ index: Int) { isMember[index] = true }

  /// Returns whether a job needs a member. The result of a need for several jobs is kept, so all these jobs must have
  /// been examined before.
  mutating func needsMember(_ index: Int) -> Bool {
    for need in plan.jobs[index].needs {
      if need.count == 1 {
        if isMember[need.lowerBound] { return true }
      } else {
        let hasMember = known[need] ?? isMember[need].contains(true)
        known[need] = hasMember
        if hasMember { return true }
      }
    }
    return false
  }
}

extension JobRun.Job {
  /// Whether an attempt runs, or the job waits between two attempts.
  fileprivate var mayRun: Bool { hasBegun || adoption != nil }
}

extension JobRun.State {
  /// Why no job of the run can be retried, as one sentence; `nil` if jobs can be retried.
  fileprivate var obstacleToRetry: String? {
    if phase != .started { return "the run has not started" }
    if let journalFailure { return journalFailure.description }
    return cancellation == nil ? nil : "the run is being ended"
  }

  /// Replaces the operations of jobs, and removes their outcomes.
  fileprivate mutating func replace(
    _ new: [(Int, JobRun.Job)], keepsEvents: Bool
  ) -> RetryView.Replaced {
    var replaced: [JobOperation] = []
    for (index, job) in new {
      if let old = jobs[index] { replaced.append(old.operation) }
      if let outcome = outcomes[index] {
        counts.remove(outcome)
        outcomes[index] = nil
        if keepsEvents { events.append(.willRunAgain(index)) }
      }
      jobs[index] = job
      lastTicket = job.ticket
    }
    results = [:]
    firstFailure = nil
    hasFailedFast = false
    isEndNoted = false
    isFinished = false
    return RetryView.Replaced(
      operations: replaced, current: jobs.map { $0?.operation }, outcomes: outcomes)
  }
}
