// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

extension JobRun {
  /// Notes the ends of finished jobs. Jobs that have not finished are left out.
  func noteEnds(of indices: Range<Int>) {
    for index in indices { noteEnd(of: index) }
  }

  /// Notes the end of a job, if its operation has finished and its end was not noted.
  func noteEnd(of index: Int) {
    guard let job = finishedJob(at: index) else { return }
    if let adoption = job.adoption, job.isEndingAdoption || !adoption.isAwaited {
      return end(adoption, of: index)
    }
    let outcome = JobOutcome(
      of: job.operation, plan.jobs[index],
      JobOutcome.Facts(
        attemptCount: job.attemptCount, lastLine: job.operation.reportedStatus,
        duration: job.started.map { $0.duration(to: options.time.instant()) }))
    // The origin has finished earlier, although its completion block may run later.
    if let origin = outcome.origin.flatMap(index(ofJob:)), origin != index {
      noteEnd(of: origin)
    }
    guard let released = note(outcome, of: index, job) else { return }
    handOver()
    // Several threads can note the end at the same time. Only one of them has released the operation.
    if let attempt = released.currentAttempt {
      nameLog(of: index, attempt: attempt, in: released.operation)
    }
    if outcome.state == .failed, options.failsFast { failFast(because: plan.jobs[index].id) }
    wake()
    beginLaterOperations()
    finishIfOver()
  }

  /// Returns the state of a job whose operation has finished and whose end was not noted; `nil` for other jobs.
  private func finishedJob(at index: Int) -> Job? {
    // The state is read after the end of the operation, which can change it until then.
    guard let operation = state.withLock({ $0.jobs[index]?.operation }), operation.isFinished,
      let job = state.withLock({ $0.jobs[index] }), job.operation === operation
    else { return nil }
    return job
  }

  /// Stores and records the outcome of a job.
  ///
  /// - Returns: The state of the job, whose operation is released outside the lock; `nil` if another thread has noted
  ///   the end.
  private func note(_ outcome: JobOutcome, of index: Int, _ job: Job) -> Job? {
    let isByRun = isByRun(job.operation, outcome)
    let record = stamped(
      .end(plan.jobs[index].id, outcome, definition: job.definition, byRun: isByRun))
    return state.withLock { state in
      guard let current = state.jobs[index], current.ticket == job.ticket else { return nil }
      state.jobs[index] = nil
      state.running[plan.jobs[index].queue]?.remove(index)
      state.pendingAdoptions.remove(index)
      state.outcomes[index] = outcome
      state.counts.add(outcome)
      if outcome.state == .failed, options.failsFast, state.firstFailure == nil {
        state.firstFailure = plan.jobs[index].id
      }
      state.records.entries.append(JournalLine.Entry(record: record))
      if options.keepsEvents { state.events.append(.ended(index, outcome)) }
      return current
    }
  }

  /// Whether a job was cancelled because the run was cancelled, or skipped because of such a job.
  private func isByRun(_ operation: JobOperation, _ outcome: JobOutcome) -> Bool {
    guard outcome.state == .cancelled || outcome.state == .skipped else { return false }
    let error = operation.error
    let cause = (error as? OperationDependencyError)?.underlyingError ?? error
    if cause is RunWasCancelled { return true }
    // If processes of the command are still alive, their error is that of the cancelled operation.
    guard let cause = cause as? CommandError, isCancelled else { return false }
    return outcome.state == .cancelled || cause.code == .stillAlive
  }

  /// Ends the command of an earlier runner, because the operation of the job was cancelled before it awaited the
  /// command. The end of the job is noted after the end of the command.
  private func end(_ adoption: Adoption, of index: Int) {
    let isFirst = state.withLock { state in
      guard state.jobs[index]?.isEndingAdoption == false else { return false }
      state.jobs[index]?.isEndingAdoption = true
      return true
    }
    guard isFirst else { return }
    adoption.end {
      self.state.withLock { $0.jobs[index]?.adoption = nil }
      self.noteEnd(of: index)
    }
  }

  func failFast(because origin: String) {
    let operations = state.withLock { state -> [JobOperation] in
      guard !state.hasFailedFast else { return [] }
      state.hasFailedFast = true
      return cancellationOrder.compactMap { index in
        plan.jobs[index].condition == .success ? state.jobs[index]?.operation : nil
      }
    }
    for operation in operations { operation.cancel(with: AnotherJobHasFailed(origin: origin)) }
  }

  /// Notes the end of the run if all jobs have ended.
  func finishIfOver() {
    guard state.withLock({ $0.isOver && !$0.isEndNoted }) else { return }
    let record = stamped(.finish())
    state.withLock { state in
      guard state.isOver, !state.isEndNoted else { return }
      state.isEndNoted = true
      state.records.entries.append(JournalLine.Entry(record: record))
    }
    handOver()
  }

  /// Returns the result of the needs of a job; `nil` if one of them has not ended.
  func result(of job: JobPlan.Job) -> NeedResult? {
    var result = NeedResult.success
    for need in job.needs {
      guard let next = self.result(of: need) else { return nil }
      result = max(result, next)
    }
    return result
  }

  /// Returns what the outcome of a job means for the jobs that need it.
  func needResult(_ outcome: JobOutcome, of index: Int) -> NeedResult {
    if resumption.unknownJobs[index] != nil { return .unknown }
    guard resumption.unsettledJobs.contains(index) else { return NeedResult(outcome.state) }
    // If the job has run again because of a retry, it has another outcome.
    let isUnchanged = [.keep(outcome), .wait(outcome)].contains(resumption.decisions[index])
    return isUnchanged ? .unsettled : NeedResult(outcome.state)
  }

  private func result(of need: Range<Int>) -> NeedResult? {
    if let known = state.withLock({ $0.results[need] }) { return known }
    noteEnds(of: need)
    let (outcomes, retryCount) = state.withLock { (Array($0.outcomes[need]), $0.lastTicket) }
    var result = NeedResult.success
    for (index, outcome) in zip(need, outcomes) {
      guard let outcome else { return nil }
      result = max(result, needResult(outcome, of: index))
    }
    if need.count > 1 {
      state.withLock { state in
        // A retry removes outcomes.
        if state.lastTicket == retryCount { state.results[need] = result }
      }
    }
    return result
  }
}

// MARK: - Jobs that the plan no longer has

extension JobRun {
  /// Awaits the ends of the jobs that the plan no longer has, and whose commands run.
  func followRemovedJobs() {
    for job in resumption.removedJobs {
      guard let adoption = state.withLock({ $0.removed[job.id] }) else { continue }
      adoption.follow { operation in self.noteEnd(of: job, operation) }
    }
    // A cancellation before this moment has found no operation.
    guard isCancelled else { return }
    for adoption in state.withLock({ Array($0.removed.values) }) { adoption.stop() }
  }

  func noteEnd(of job: Resumption.RemovedJob, _ operation: AttemptOperation) {
    let outcome = JobOutcome(
      of: operation, nil,
      JobOutcome.Facts(
        attemptCount: job.attempt, lastLine: operation.reportedStatus, duration: nil))
    let isByRun = outcome.state == .cancelled && isCancelled
    var record = stamped(.end(job.id, outcome, definition: "", byRun: isByRun))
    record.definition = nil
    state.withLock { state in
      state.removed[job.id] = nil
      state.records.entries.append(JournalLine.Entry(record: record))
    }
    handOver()
    finishIfOver()
  }
}

// MARK: - Commands without a shim

extension JobRun {
  /// Ends the commands whose shims were killed, so that none of them runs at the same time as the next attempt of its
  /// job, and none of them outlives the run. If the journal cannot be written, no job runs again, and the commands
  /// continue.
  func endOrphans() {
    for end in state.withLock({ Array($0.orphanEnds.values) }) { end.start() }
  }

  /// Creates the operations that end the commands whose shims were killed, by the indices of their jobs.
  func orphanEnds() -> [Int: Operation] {
    Dictionary(uniqueKeysWithValues: orphans.map { ($0, end($1, of: $0)) })
  }

  private func end(_ orphan: OrphanedCommand, of index: Int) -> Operation {
    let operation = AsyncOperation { [journal] in
      // The failure is noted before the job of the command can begin.
      if let failure = await journal.flush() { return self.journalHasFailed(failure) }
      // If a process cannot be ended, the next attempt of the job tries it again.
      try? await orphan.stop()
    }
    operation.name = "end the command of \(plan.jobs[index].id)"
    operation.completionBlock = {
      self.state.withLock { _ = $0.orphanEnds.removeValue(forKey: index) }
      self.finishIfOver()
    }
    return operation
  }

  /// Lets the operation of a job wait for the ends of commands whose shims were killed: of the command of the job and,
  /// if the job can run after needs that have not succeeded, of the commands of its needs.
  func addOrphanEnds(to operation: Operation, of index: Int) {
    let ends = state.withLock { $0.orphanEnds }
    let job = plan.jobs[index]
    for (orphan, end) in ends {
      let isOfNeed = job.condition != .success && job.needs.contains { $0.contains(orphan) }
      if orphan == index || isOfNeed { operation.addDependency(end) }
    }
  }
}
