// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

extension JobRun {
  /// The greatest width of a queue whose running jobs are checked at each start.
  private static let mostCheckedJobs = 256

  /// An attempt is about to start.
  ///
  /// - Returns: The value of `OPQ_RESULT`; `nil` if the job must not run. In that case, its operation has been cancelled.
  func willStart(_ index: Int, attempt: Int) -> String? {
    let job = plan.jobs[index]
    if attempt == 1 {
      // The ends of the needs are noted before this start, although their completion blocks may run later. The
      // operation of a need for several jobs has noted their ends.
      for need in job.needs where need.count == 1 { noteEnd(of: need.lowerBound) }
      noteEndsBeforeStart(of: job)
      if let refusal = refusal(of: job) {
        state.withLock { $0.jobs[index]?.operation }?.cancel(with: refusal)
        return nil
      }
    } else {
      nameLog(of: index, attempt: attempt - 1, in: state.withLock { $0.jobs[index]?.operation })
    }
    let operation = state.withLock { state in
      state.jobs[index]?.attemptCount = attempt
      if attempt == 1 {
        state.jobs[index]?.started = .now
        state.running[job.queue, default: []].insert(index)
      }
      if options.keepsEvents { state.events.append(.started(index, attempt: attempt)) }
      return state.jobs[index]?.operation
    }
    // The last line of an earlier attempt is not that of this one.
    if attempt > 1 { operation?.reportStatus("") }
    wake()
    switch job.condition {
    case .success: return ""
    // A job that was selected without its needs gets this value too.
    case .failure: return NeedResult.failure.text
    case .always: return result(of: job)?.text ?? ""
    }
  }

  /// An attempt has failed, and another one follows.
  func willRetry(_ index: Int, after error: any Error) {
    guard options.keepsEvents else { return }
    state.withLock { state in
      guard let job = state.jobs[index] else { return }
      let reason = JobOutcome.words(
        about: error, of: plan.jobs[index], lastLine: job.operation.reportedStatus)
      state.events.append(.retried(index, attempt: job.attemptCount, reason: reason))
    }
    wake()
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
    // A job that was selected without its needs runs.
    let needsFailure = job.condition == .failure && !job.needs.isEmpty
    return needsFailure && result != .failure ? NoNeedHasFailed() : nil
  }

  /// Notes the end of the job whose slot a job has got. Otherwise the events would show more jobs at once than the width
  /// of the queue.
  private func noteEndsBeforeStart(of job: JobPlan.Job) {
    let width = plan.queues.first { $0.name == job.queue }?.width ?? 0
    guard width <= Self.mostCheckedJobs else { return }
    let running = state.withLock { state -> [Int] in
      let running = state.running[job.queue] ?? []
      return running.count >= width ? Array(running) : []
    }
    for index in running { noteEnd(of: index) }
  }

  /// If the log of an attempt is longer than the lines that viewers show, the last of these lines names the file.
  private func nameLog(of index: Int, attempt: Int, in operation: JobOperation?) {
    let file = logs.file(of: plan.jobs[index], at: index, attempt: attempt)
    guard logs.isLongerThanShown(file) else { return }
    operation?.appendLogLine("the whole output is in \(file)", level: .notice)
  }

  /// Notes the ends of finished jobs. Jobs that have not finished are left out.
  func noteEnds(of indices: Range<Int>) {
    for index in indices { noteEnd(of: index) }
  }

  /// Notes the end of a job, if its operation has finished and its end was not noted.
  func noteEnd(of index: Int) {
    guard let job = state.withLock({ $0.jobs[index] }), job.operation.isFinished else { return }
    let outcome = JobOutcome(
      of: job.operation, plan.jobs[index],
      JobOutcome.Facts(
        attemptCount: job.attemptCount, lastLine: job.operation.reportedStatus,
        duration: job.started.map { $0.duration(to: .now) }))
    // The origin has finished earlier, although its completion block may run later.
    if let origin = outcome.origin.flatMap(index(ofOrigin:)), origin != index {
      noteEnd(of: origin)
    }
    // The operation is released outside the lock.
    let released = state.withLock { state -> Job? in
      guard let job = state.jobs[index] else { return nil }
      state.jobs[index] = nil
      state.running[plan.jobs[index].queue]?.remove(index)
      state.outcomes[index] = outcome
      state.counts.add(outcome)
      if outcome.state == .failed, options.failsFast, state.firstFailure == nil {
        state.firstFailure = plan.jobs[index].id
      }
      if options.keepsEvents { state.events.append(.ended(index, outcome)) }
      return job
    }
    guard let released else { return }
    // Several threads can note the end at the same time. Only one of them has released the operation.
    if released.attemptCount > 0 {
      nameLog(of: index, attempt: released.attemptCount, in: released.operation)
    }
    if outcome.state == .failed, options.failsFast { failFast(because: plan.jobs[index].id) }
    wake()
    finishIfOver()
  }

  private func failFast(because origin: String) {
    let operations = state.withLock { state -> [JobOperation] in
      guard !state.hasFailedFast else { return [] }
      state.hasFailedFast = true
      return cancellationOrder.compactMap { index in
        plan.jobs[index].condition == .success ? state.jobs[index]?.operation : nil
      }
    }
    for operation in operations { operation.cancel(with: AnotherJobHasFailed(origin: origin)) }
  }

  /// Deletes the logs without content, and the directory if no log is left. Call this method when all jobs have ended.
  /// Before that, a process that a command has left behind may still write.
  ///
  /// - Returns: Whether the directory was deleted.
  @discardableResult
  package func deleteEmptyLogs() -> Bool {
    for (index, outcome) in outcomes.enumerated() {
      for attempt in 0..<(outcome?.attemptCount ?? 0) {
        logs.deleteIfEmpty(logs.file(of: plan.jobs[index], at: index, attempt: attempt + 1))
      }
    }
    return logs.deleteIfEmpty()
  }

  /// Calls the handlers if all jobs have ended.
  func finishIfOver() {
    let handlers = state.withLock { state -> [@Sendable () -> Void] in
      guard state.counts.total == plan.jobs.count else { return [] }
      defer { state.handlers = [] }
      return state.handlers
    }
    for handler in handlers { handler() }
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

  private func result(of need: Range<Int>) -> NeedResult? {
    if let known = state.withLock({ $0.results[need] }) { return known }
    noteEnds(of: need)
    var result = NeedResult.success
    for outcome in state.withLock({ Array($0.outcomes[need]) }) {
      guard let outcome else { return nil }
      result = max(result, NeedResult(outcome.state))
    }
    if need.count > 1 { state.withLock { $0.results[need] = result } }
    return result
  }
}
