// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles
import OperationsCommands
import OperationsCore

/// The execution of a plan by operations in this process. Any thread may call any method.
///
/// Each job is an operation with the id of the job as its name, in a queue with the name from the plan. A need is a
/// dependency. A need for several jobs of a group is a dependency on one operation that joins them.
package final class JobRun: Sendable {
  /// The choices of a run.
  package struct Options: Sendable {
    /// Whether the first failure cancels all jobs with the condition `success`. Jobs with another condition still run
    /// when their needs have ended.
    package var failsFast = false
    /// The kind of all operations; `nil` if each operation has the name of its group as its kind.
    package var kind: String?
    /// Whether the events are kept for ``takeEvents()``.
    package var keepsEvents = true

    /// Creates the default choices.
    package init() {}
  }

  /// The state of a job that has not ended.
  struct Job {
    let operation: JobOperation
    var attemptCount = 0
    var started: ContinuousClock.Instant?
  }

  struct State {
    /// The jobs; `nil` for a job that has ended.
    var jobs: [Job?] = []
    var outcomes: [JobOutcome?] = []
    var counts = JobCounts()
    var events: [JobEvent] = []
    var handlers: [@Sendable () -> Void] = []
    /// The jobs of each queue that have started and whose ends were not noted.
    var running: [String: Set<Int>] = [:]
    /// The results of needs for several jobs.
    var results: [Range<Int>: NeedResult] = [:]
    var isStarted = false
    var hasFailedFast = false
    /// The id of the job whose failure ends the run; `nil` if no failure has ended it.
    var firstFailure: String?
    /// The reason for which all jobs were cancelled.
    var cancellation: RunWasCancelled?
  }

  /// The plan.
  package let plan: JobPlan
  /// The output of the jobs.
  package let logs: JobLogs
  let options: Options
  let state: Locked<State>
  /// The indices of all jobs: each job before its needs. Jobs are cancelled in this order, so that no job is skipped
  /// because of the cancellation of its needs.
  let cancellationOrder: [Int]
  private let queues: [String: OperationQueue]
  /// The queue of the operations that are no jobs. The name of a queue of a plan has no parentheses.
  private let needsQueue = OperationQueue(name: "(needs)")
  private let gracePeriods = GracePeriods()
  /// The index of each job by its id; empty if no job has a need.
  private let indices: [String: Int]
  let wake: @Sendable () -> Void

  /// Creates a run that has not started.
  ///
  /// - Parameters:
  ///   - plan: The jobs.
  ///   - logs: The directory for the output of the jobs.
  ///   - options: The choices.
  ///   - wake: A closure that is called after an event, on any thread. It must not block.
  package init(
    _ plan: JobPlan, logs: JobLogs, options: Options = Options(),
    wake: @escaping @Sendable () -> Void
  ) {
    self.plan = plan
    self.logs = logs
    self.options = options
    self.wake = wake
    cancellationOrder = plan.order.reversed()
    queues = Dictionary(plan.queues.map { ($0.name, OperationQueue($0)) }) { $1 }
    let hasNeeds = plan.jobs.contains { !$0.needs.isEmpty } || options.failsFast
    indices =
      hasNeeds ? Dictionary(plan.jobs.indices.map { (plan.jobs[$0].id, $0) }) { $1 } : [:]
    state = Locked(State())
  }

  /// Returns the index of a job that is the origin of an outcome.
  func index(ofOrigin id: String) -> Int? { indices[id] }

  /// Adds all jobs to their queues. A second call does nothing.
  package func start() {
    let commands = JobCommands(
      plan: plan, logs: logs, gracePeriods: gracePeriods, kind: options.kind)
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    guard isFirst else { return }
    let operations = plan.jobs.indices.map { index in
      let operation = commands.operation(of: index) {
        self.willStart(index, attempt: $0)
      } willRetry: {
        self.willRetry(index, after: $0)
      }
      operation.completionBlock = { self.noteEnd(of: index) }
      return operation
    }
    let cancellation = state.withLock { state in
      state.outcomes = Array(repeating: nil, count: operations.count)
      state.jobs = operations.map { Job(operation: $0) }
      return state.cancellation
    }
    var needs = JobNeeds(run: self, operations: operations)
    let others = needs.connect()
    if let cancellation { for operation in operations { operation.cancel(with: cancellation) } }
    needsQueue.addOperations(others)
    // The operations of a queue are added in one step, so that their priorities decide which one starts first.
    let groups = Dictionary(grouping: plan.jobs.indices) { plan.jobs[$0].queue }
    for queue in plan.queues {
      guard let indices = groups[queue.name], let target = queues[queue.name] else { continue }
      target.addOperations(indices.map { operations[$0] })
    }
    if operations.isEmpty { finishIfOver() }
  }

  /// Cancels all jobs, and lets the commands that execute end within their grace periods. A second call does nothing.
  ///
  /// - Parameter reason: The reason.
  package func cancel(_ reason: RunWasCancelled) {
    let operations = state.withLock { state -> [JobOperation] in
      guard state.cancellation == nil else { return [] }
      state.cancellation = reason
      return state.jobs.isEmpty ? [] : cancellationOrder.compactMap { state.jobs[$0]?.operation }
    }
    for operation in operations { operation.cancel(with: reason) }
    resumeQueues()
  }

  /// Lets the queues start cancelled jobs, which then end, although a user has suspended the queues.
  private func resumeQueues() { for queue in queues.values { queue.isSuspended = false } }

  /// Ends the grace periods of all commands, also those that begin later, and resumes queues that a user has suspended
  /// after the cancellation.
  package func endGracePeriods() {
    gracePeriods.end()
    resumeQueues()
  }

  /// Calls a closure once, on any thread, when all jobs have ended. If all jobs have ended, the closure is called before
  /// this method returns.
  package func whenFinished(_ handler: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if state.isStarted, state.counts.total == plan.jobs.count { return true }
      state.handlers.append(handler)
      return false
    }
    if isFinished { handler() }
  }

  /// Returns what has happened since the last call, in order.
  package func takeEvents() -> [JobEvent] {
    state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
  }

  /// Whether all jobs were cancelled by ``cancel(_:)``.
  package var isCancelled: Bool { state.withLock { $0.cancellation != nil } }

  /// The number of jobs that have started and have not ended.
  package var runningCount: Int { state.withLock { $0.running.values.reduce(0) { $0 + $1.count } } }

  /// The number of jobs that have ended in each state.
  package var counts: JobCounts { state.withLock { $0.counts } }

  /// The outcomes of all jobs, in the order of the plan; `nil` for jobs that have not ended.
  package var outcomes: [JobOutcome?] { state.withLock { $0.outcomes } }
}

extension JobRun {
  /// The number of processors that this process may use: the width of queues without a width.
  package static var availableProcessorCount: Int { AvailableProcessors.count() }
}
