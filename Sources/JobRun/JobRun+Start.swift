// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// Operations that begin after the adopted ones.
struct LaterOperations {
  /// The operations of jobs, each with the index of its job.
  let jobs: [(index: Int, operation: JobOperation)]
  /// Operations that are no jobs.
  let others: [Operation]
}

/// What a runner has decided about the jobs of a plan.
private struct FirstState {
  var outcomes: [JobOutcome?]
  var series: [AttemptSeries?]
  var records: [JournalRecord]
  var events: [JobEvent] = []
  /// The jobs that earlier runners have started and that have failed while no runner was alive, without a further
  /// attempt.
  var failed: [Int] = []
}

extension JobRun {
  /// Adds all jobs to their queues, after the jobs whose commands still run. A second call does nothing.
  ///
  /// The first record in the journal is the one of this runner.
  package func start() {
    let isFirst = state.withLock { state in
      guard state.phase == .created else { return false }
      state.phase = .starting
      return true
    }
    guard isFirst else { return }
    let first = firstState()
    let operations = plan.jobs.indices.map { index in
      first.series[index].map { operation(of: index, $0, ticket: 0) }
    }
    let isAdopted = first.series.map { adoption(in: $0) != nil }
    install(first, operations, isAdopted)
    handOver()
    journal.whenFailed { [weak self] in self?.journalHasFailed($0) }
    followRemovedJobs()
    endOrphans()
    let jobs = plan.jobs.indices.compactMap { index in operations[index].map { (index, $0) } }
    let rest = jobs.filter { !isAdopted[$0.0] }
    var needs = JobNeeds(run: self, operations: operations, outcomes: first.outcomes)
    let later = LaterOperations(jobs: rest, others: needs.connect(rest.map(\.0)))
    cancelIfCancelled(operations)
    if let id = firstFailure(first) { failFast(because: id) }
    begin(jobs.filter { isAdopted[$0.0] }, before: later)
    if !first.events.isEmpty { wake() }
    finishIfOver()
  }

  private func adoption(in series: AttemptSeries?) -> Adoption? {
    if case .adopted(let adoption)? = series?.beginning { adoption } else { nil }
  }

  /// Executes the decisions about the jobs, except the start of commands.
  private func firstState() -> FirstState {
    var first = FirstState(
      outcomes: Array(repeating: nil, count: plan.jobs.count),
      series: Array(repeating: nil, count: plan.jobs.count),
      records: [stamped(.runner())] + resumption.records)
    for (index, decision) in resumption.decisions.enumerated() {
      let last = resumption.lastAttempts[index]
      switch decision {
      case .run(let attempt): first.series[index] = AttemptSeries(first: attempt, last: last)
      case .keep(let outcome): first.outcomes[index] = outcome
      case .wait(let outcome):
        first.outcomes[index] = outcome
        first.events.append(.ended(index, outcome))
      case .adopt(let attempt, let files, let shim):
        let command = commands.adoptedCommand(
          named: plan.jobs[index].id, grace: plan.jobs[index].grace)
        first.series[index] = AttemptSeries(
          first: attempt, last: last, .adopted(Adoption(command, files: files, shim: shim)))
      case .adoptSubmission(let attempt, let files, let submission):
        guard let cluster = commands.cluster else { continue }
        first.series[index] = AttemptSeries(
          first: attempt, last: last,
          .adopted(adoption(of: submission, index, attempt: attempt, files: files, on: cluster)))
      case .take(let attempt, let files, let status):
        take(attempt, of: index, files, status, last: last, &first)
      }
    }
    return first
  }

  /// Handles an attempt that has ended while no runner was alive.
  private func take(
    _ attempt: Int, of index: Int, _ files: ShimFiles, _ status: Int32, last: Int,
    _ first: inout FirstState
  ) {
    let job = plan.jobs[index]
    let end = files.end(ofCommand: job.id, status: status)
    if let error = end.error, attempt < last {
      first.series[index] = AttemptSeries(first: attempt, last: last, .failed(error))
      return
    }
    let outcome = JobOutcome(
      state: end.error == nil ? .succeeded : .failed, attemptCount: attempt,
      exitStatus: end.error == nil ? 0 : end.error?.exitStatus, origin: nil,
      reason: end.error.map { JobOutcome.words(about: $0, of: job, lastLine: end.lastLine) },
      lastLine: end.lastLine, duration: nil, isUnneeded: false)
    first.outcomes[index] = outcome
    first.events.append(.ended(index, outcome))
    if outcome.state == .failed { first.failed.append(index) }
    first.records.append(
      stamped(.end(job.id, outcome, definition: resumption.definitions[index])))
  }

  private func install(
    _ first: FirstState, _ operations: [JobOperation?], _ isAdopted: [Bool]
  ) {
    let removed = resumption.removedJobs.compactMap { job in
      adoption(ofRemoved: job).map { (job.id, $0) }
    }
    let orphanEnds = orphanEnds()
    state.withLock { state in
      state.phase = .started
      state.outcomes = first.outcomes
      for case let outcome? in first.outcomes { state.counts.add(outcome) }
      state.jobs = operations.indices.map { index in
        guard let operation = operations[index], let series = first.series[index] else {
          return nil
        }
        // An attempt that an earlier runner has started counts as started.
        let isStarted = if case .command = series.beginning { false } else { true }
        return Job(
          operation: operation, ticket: 0,
          attemptCount: isStarted ? series.first : series.first - 1,
          definition: resumption.definitions[index], adoption: adoption(in: series))
      }
      state.records.entries += first.records.map { JournalLine.Entry(record: $0) }
      state.pendingAdoptions = Set(isAdopted.indices.filter { isAdopted[$0] })
      state.removed = Dictionary(removed) { $1 }
      if options.keepsEvents { state.events += first.events }
      state.orphanEnds = orphanEnds
      state.firstFailure = firstFailure(first)
    }
  }

  /// The id of the job whose failure in an earlier runner ends the run; `nil` if there is none.
  private func firstFailure(_ first: FirstState) -> String? {
    guard options.failsFast else { return nil }
    return (resumption.firstFailure ?? first.failed.first).map { plan.jobs[$0].id }
  }

  private func cancelIfCancelled(_ operations: [JobOperation?]) {
    guard let cancellation = state.withLock({ $0.cancellation }) else { return }
    for index in cancellationOrder { operations[index]?.cancel(with: cancellation) }
  }
}

// MARK: - Queues

extension JobRun {
  /// Adds the adopted jobs to their queues, and the other operations as soon as the adopted jobs have begun.
  ///
  /// The commands of adopted jobs run already. Therefore they do not wait for a slot or for a start limit.
  private func begin(
    _ adopted: [(index: Int, operation: JobOperation)], before later: LaterOperations
  ) {
    for (name, jobs) in Dictionary(grouping: adopted, by: { plan.jobs[$0.index].queue }) {
      guard let queue = queues[name] else { continue }
      queue.maxConcurrentOperationCount = max(queue.maxConcurrentOperationCount, jobs.count)
    }
    state.withLock { $0.laterOperations = later }
    enqueue(adopted)
    beginLaterOperations()
  }

  /// Adds the other operations to their queues, if all adopted jobs have begun or ended.
  func beginLaterOperations() {
    let later = state.withLock { state in
      state.pendingAdoptions.isEmpty ? state.laterOperations.take() : nil
    }
    guard let later else { return }
    for queue in plan.queues {
      guard let target = queues[queue.name] else { continue }
      if target.maxConcurrentOperationCount > queue.width {
        target.maxConcurrentOperationCount = queue.width
      }
      target.startLimit = queue.startsPerSecond.map { OperationStartLimit($0) }
    }
    needsQueue.addOperations(later.others)
    enqueue(later.jobs)
  }

  /// Adds jobs to their queues. The operations of a queue are added in one step, so that their priorities decide which
  /// one starts first.
  func enqueue(_ jobs: [(index: Int, operation: JobOperation)]) {
    let groups = Dictionary(grouping: jobs) { plan.jobs[$0.index].queue }
    for queue in plan.queues {
      guard let jobs = groups[queue.name], let target = queues[queue.name] else { continue }
      target.addOperations(jobs.map(\.operation))
    }
  }
}
