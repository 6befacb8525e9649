// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

extension JobRun {
  /// The greatest width of a queue whose running jobs are checked at each start.
  private static let mostCheckedJobs = 256

  /// Creates the operation of a job. It is not in a queue.
  ///
  /// - Parameters:
  ///   - index: The index of the job.
  ///   - series: The attempts.
  ///   - ticket: The value of ``Job/ticket``.
  /// - Returns: The operation.
  func operation(of index: Int, _ series: AttemptSeries, ticket: Int) -> JobOperation {
    let job = plan.jobs[index]
    let pause = job.retryPause
    let operation = JobOperation(
      maximumAttempts: series.last - series.first + 1, delay: { _ in pause },
      shouldRetry: { self.willRetry(index, after: $0) }
    ) { number in
      self.attempt(series.first + number - 1, of: index, series, ticket: ticket)
        // The closure that refused the attempt has cancelled the operation.
        ?? ResultOperation { throw CancellationError() }
    }
    operation.name = job.id
    operation.kind = options.kind ?? job.group
    if job.priority != .normal { operation.queuePriority = OperationQueue.priority(job.priority) }
    operation.completionBlock = { self.noteEnd(of: index) }
    return operation
  }

  /// Creates the operation of an attempt.
  ///
  /// - Returns: The operation; `nil` if the attempt must not start. In that case, the operation of the job was
  ///   cancelled.
  private func attempt(
    _ attempt: Int, of index: Int, _ series: AttemptSeries, ticket: Int
  ) -> AttemptOperation? {
    if attempt == series.first, case .adopted(let adoption) = series.beginning {
      noteAdoption(adoption, of: index, attempt: attempt)
      return adoption.makeOperation(timeout: plan.jobs[index].timeout)
    }
    guard let result = begin(attempt, of: index, isFirst: attempt == series.first, ticket: ticket)
    else { return nil }
    if attempt == series.first, case .failed(let error) = series.beginning {
      return ResultOperation { throw error }
    }
    if let cluster = commands.cluster {
      return submission(attempt, of: index, to: cluster, result: result)
    }
    return commands.operation(for: attempt, of: index, result: result) { files in
      try await self.orphans[index]?.stop()
      try await self.recordStart(of: index, attempt: attempt, files: files)
    }
  }

  /// An attempt is about to start.
  ///
  /// - Returns: The value of `OPQ_RESULT`; `nil` if the job must not run.
  private func begin(_ attempt: Int, of index: Int, isFirst: Bool, ticket: Int) -> String? {
    let job = plan.jobs[index]
    var refusal: (any Error)?
    if isFirst {
      // The ends of the needs are noted before this start, although their completion blocks may run later. The
      // operation of a need for several jobs has noted their ends.
      for need in job.needs where need.count == 1 { noteEnd(of: need.lowerBound) }
      noteEndsBeforeStart(of: job)
      refusal = self.refusal(of: job)
    } else {
      nameLog(of: index, attempt: attempt - 1, in: state.withLock { $0.jobs[index]?.operation })
    }
    let (operation, isRefused) = state.withLock { state -> (JobOperation?, Bool) in
      // A retry has replaced the operation, and cancels it.
      guard let current = state.jobs[index], current.ticket == ticket else { return (nil, true) }
      refusal = refusal ?? state.journalFailure
      guard refusal == nil else { return (current.operation, true) }
      state.jobs[index]?.hasBegun = true
      state.jobs[index]?.currentAttempt = attempt
      if isFirst { state.running[job.queue, default: []].insert(index) }
      return (current.operation, false)
    }
    if isRefused {
      if let refusal { operation?.cancel(with: refusal) }
      return nil
    }
    // The last line of an earlier attempt is not that of this one.
    if !isFirst { operation?.reportStatus("") }
    return resultText(of: job)
  }

  /// Returns the value of `OPQ_RESULT` for a job whose needs have ended.
  func resultText(of job: JobPlan.Job) -> String {
    switch job.condition {
    case .success: ""
    // A job that was selected without its needs gets this value too.
    case .failure: NeedResult.failure.text
    case .always: result(of: job)?.text ?? ""
    }
  }

  /// The attempt of an earlier runner is awaited from now on.
  private func noteAdoption(_ adoption: Adoption, of index: Int, attempt: Int) {
    let start = options.time.instant() - adoption.age
    state.withLock { state in
      state.jobs[index]?.hasBegun = true
      state.jobs[index]?.currentAttempt = attempt
      state.jobs[index]?.started = start
      state.running[plan.jobs[index].queue, default: []].insert(index)
      state.pendingAdoptions.remove(index)
      if options.keepsEvents { state.events.append(.adopted(index, attempt: attempt)) }
    }
    wake()
    beginLaterOperations()
  }

  /// An attempt has failed.
  ///
  /// - Returns: Whether another attempt follows.
  private func willRetry(_ index: Int, after error: any Error) -> Bool {
    if error is CancellationError || error is RunFailure { return false }
    guard let job = state.withLock({ $0.jobs[index] }), let attempt = job.currentAttempt else {
      return false
    }
    let reason = JobOutcome.words(
      about: error, of: plan.jobs[index], lastLine: job.operation.reportedStatus)
    let record = stamped(
      .attempt(
        plan.jobs[index].id, attempt: attempt, status: (error as? CommandError)?.exitStatus,
        reason: reason))
    let isRetried = state.withLock { state in
      guard state.journalFailure == nil else { return false }
      state.jobs[index]?.adoption = nil
      state.jobs[index]?.currentAttempt = nil
      // An attempt that has failed before its start has no record.
      if job.attemptCount >= attempt {
        state.records.entries.append(JournalLine.Entry(record: record))
      }
      if options.keepsEvents {
        state.events.append(.retried(index, attempt: attempt, reason: reason))
      }
      return true
    }
    if isRetried {
      handOver()
      wake()
    }
    return isRetried
  }

  /// The reason why a job must not run, although its queue starts it; `nil` if it may run.
  ///
  /// A user can cancel the operation that waits for several needs. The jobs that depend on it would start before their
  /// needs have ended.
  private func refusal(of job: JobPlan.Job) -> (any Error)? {
    guard job.condition != .success else {
      return state.withLock { $0.firstFailure }.map { AnotherJobHasFailed(origin: $0) }
    }
    guard let result = result(of: job) else { return NeedsHaveNotEnded() }
    return Self.refusal(of: job, behind: result)
  }

  /// The reason why the result of the needs of a job, which starts after their end, does not permit its start; `nil` if
  /// it does.
  static func refusal(of job: JobPlan.Job, behind result: NeedResult) -> (any Error)? {
    if result == .unknown { return NeedMayStillRun() }
    // A job that was selected without its needs runs.
    let needsFailure = job.condition == .failure && !job.needs.isEmpty
    return needsFailure && result != .failure ? NoNeedHasFailed() : nil
  }

  /// Notes the end of the job whose slot a job has got. Otherwise the events would show more jobs at once than the
  /// width of the queue.
  private func noteEndsBeforeStart(of job: JobPlan.Job) {
    let width = plan.queues.first { $0.name == job.queue }?.width ?? 0
    guard width <= Self.mostCheckedJobs else { return }
    let running = state.withLock { state -> [Int] in
      let running = state.running[job.queue] ?? []
      return running.count >= width ? Array(running) : []
    }
    for index in running { noteEnd(of: index) }
  }
}
