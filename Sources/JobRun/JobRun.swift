// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
package import JobFiles
package import OperationsCommands
import OperationsCore

/// The execution of a plan by operations in this process. Any thread may call any method.
///
/// Each job is an operation with the id of the job as its name, in a queue with the name from the plan. A need is a
/// dependency. A need for several jobs of a group is a dependency on one operation that joins them.
///
/// Everything that happens is recorded in the journal of the run, in the order of the events.
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
    /// The working directory of the commands; `nil` for that of this process.
    package var workingDirectory: String?
    /// The cluster on which the commands execute; `nil` for this machine.
    package var cluster: RunCluster?
    /// The sources of the time.
    var time = Time()

    /// Creates the default choices.
    package init() {}
  }

  /// The sources of the time of a run.
  struct Time: Sendable {
    /// Returns the wall clock in nanoseconds since 1970, for records.
    var wall: @Sendable () -> Int64 = { csystem_wall_nanoseconds() }
    /// Returns the time for durations.
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }
  }

  /// The state of a job that has not ended.
  struct Job {
    let operation: JobOperation
    /// Identifies the operation among those of this job. A retry replaces the operation.
    let ticket: Int
    /// The number of the last attempt that was started.
    var attemptCount: Int
    /// The definition of the last attempt that was started, or of the job if it has not run.
    var definition: String
    /// The start of the first attempt that this operation has started or adopted.
    var started: ContinuousClock.Instant?
    /// The number of the attempt that has begun, and whose end is not known.
    var currentAttempt: Int?
    /// Whether the queue has started the operation, and nothing has refused the start.
    var hasBegun = false
    /// The command of an earlier runner that the first attempt awaits, until its end is known.
    var adoption: Adoption?
    /// Whether this command is ended without the operation.
    var isEndingAdoption = false
  }

  /// How far the start of a run has come.
  enum Phase {
    case created, starting, started
  }

  struct State {
    var phase = Phase.created
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
    /// The records that the journal has not got.
    var records = JournalLine()
    /// The adopted operations that have not begun and have not ended. The other operations wait for them.
    var pendingAdoptions: Set<Int> = []
    /// What starts after the adopted operations; `nil` if it has started.
    var laterOperations: LaterOperations?
    /// The jobs that the plan no longer has, and whose commands run.
    var removed: [String: Adoption] = [:]
    /// For each job whose command runs without a shim, an operation that finishes after the end of the command.
    var orphanEnds: [Int: Operation] = [:]
    /// Whether the current end of the run was noted.
    var isEndNoted = false
    /// Whether the journal has all records of the current end of the run. Then the handlers are called.
    var isFinished = false
    var hasFailedFast = false
    /// The id of the job whose failure ends the run; `nil` if no failure has ended it.
    var firstFailure: String?
    /// The reason for which all jobs were cancelled.
    var cancellation: RunWasCancelled?
    /// Why the journal cannot be written.
    var journalFailure: RunFailure?
    var lastTicket = 0

    /// Whether all jobs have ended.
    var isOver: Bool {
      phase == .started && counts.total == jobs.count && removed.isEmpty && orphanEnds.isEmpty
    }
  }

  /// The plan.
  package let plan: JobPlan
  /// The directory of the run.
  package let directory: RunDirectory
  let journal: RunJournal
  let resumption: Resumption
  let options: Options
  let state: Locked<State>
  let commands: JobCommands
  /// The indices of all jobs: each job before its needs. Jobs are cancelled in this order, so that no job is skipped
  /// because of the cancellation of its needs.
  let cancellationOrder: [Int]
  let queues: [String: OperationQueue]
  /// The queue of the operations that are no jobs. The name of a queue of a plan has no parentheses.
  let needsQueue = OperationQueue(name: "(needs)")
  private let gracePeriods = GracePeriods()
  /// The index of each job by its id; `nil` until it is needed.
  private let indices = Locked<[String: Int]?>(nil)
  /// The commands of earlier runners that run without a shim. They are ended before their jobs run again.
  let orphans: [Int: OrphanedCommand]
  let wake: @Sendable () -> Void

  /// Creates a run that has not started.
  ///
  /// - Parameters:
  ///   - plan: The jobs.
  ///   - directory: The directory of the run.
  ///   - journal: The open journal of the run. The caller closes it when all jobs have ended.
  ///   - programs: The programs for the start of commands.
  ///   - history: What happens with each job of the plan because of earlier runners.
  ///   - options: The choices.
  ///   - wake: A closure that is called after an event, on any thread. It must not block.
  package init(
    _ plan: JobPlan, directory: RunDirectory, journal: RunJournal, programs: ShimPrograms,
    history: Resumption, options: Options = Options(), wake: @escaping @Sendable () -> Void
  ) {
    self.plan = plan
    self.directory = directory
    self.journal = journal
    self.resumption = history
    self.options = options
    self.wake = wake
    let commands = JobCommands(
      plan: plan, directory: directory, programs: programs, gracePeriods: gracePeriods,
      workingDirectory: options.cluster?.directory ?? options.workingDirectory,
      cluster: options.cluster.map { JobCluster($0, of: directory) })
    self.commands = commands
    var orphans: [Int: OrphanedCommand] = [:]
    for (index, process) in history.orphans {
      let job = plan.jobs[index]
      let command = commands.adoptedCommand(named: job.id, grace: job.grace)
      orphans[index] = OrphanedCommand(command, leader: process)
    }
    self.orphans = orphans
    cancellationOrder = plan.order.reversed()
    queues = Dictionary(plan.queues.map { ($0.name, OperationQueue($0)) }) { $1 }
    state = Locked(State())
  }

  /// Returns the index of the job with an id; `nil` if there is no such job.
  package func index(ofJob id: String) -> Int? {
    indices.withLock { indices in
      let known = indices ?? Dictionary(plan.jobs.indices.map { (plan.jobs[$0].id, $0) }) { $1 }
      indices = known
      return known[id]
    }
  }

  /// Cancels all jobs, and lets the commands that execute end within their grace periods. A second call does nothing.
  ///
  /// - Parameter reason: The reason.
  package func cancel(_ reason: RunWasCancelled) {
    let (operations, removed) = state.withLock { state -> ([JobOperation], [Adoption]) in
      guard state.cancellation == nil else { return ([], []) }
      state.cancellation = reason
      let operations =
        state.jobs.isEmpty ? [] : cancellationOrder.compactMap { state.jobs[$0]?.operation }
      return (operations, Array(state.removed.values))
    }
    for operation in operations { operation.cancel(with: reason) }
    for adoption in removed { adoption.stop() }
    resumeQueues()
  }

  /// Lets the queues start cancelled jobs, which then end, although a user has suspended the queues.
  func resumeQueues() { for queue in queues.values { queue.isSuspended = false } }

  /// Ends the grace periods of all commands, also those that begin later, and resumes queues that a user has suspended
  /// after the cancellation.
  package func endGracePeriods() {
    gracePeriods.end()
    resumeQueues()
  }

  /// Calls a closure, on any thread, each time when all jobs have ended: also when the jobs have ended that run again
  /// because of a retry. If all jobs have ended, the closure is called before this method returns.
  ///
  /// At this time, the journal has got all records. A retry can begin while a closure is called; see ``isFinished``.
  package func whenFinished(_ handler: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      state.handlers.append(handler)
      return state.isFinished
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

  /// Whether all jobs have ended and the journal has got all records, and no retry has begun since then.
  package var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Whether all jobs were cancelled by ``cancel(_:)``.
  package var isCancelled: Bool { state.withLock { $0.cancellation != nil } }

  /// Why no further job starts, because the journal cannot be written; `nil` if it can.
  package var journalFailure: RunFailure? { state.withLock { $0.journalFailure } }

  /// The number of jobs that have started and have not ended.
  package var runningCount: Int { state.withLock { $0.running.values.reduce(0) { $0 + $1.count } } }

  /// The number of jobs whose commands run: jobs that have started and have not ended, and jobs of earlier runners
  /// whose commands are being ended before the jobs run again.
  package var livingCommandCount: Int {
    state.withLock { state in
      state.running.values.reduce(state.orphanEnds.count) { $0 + $1.count }
    }
  }

  /// The number of jobs that have ended in each state.
  package var counts: JobCounts { state.withLock { $0.counts } }

  /// The outcomes of all jobs, in the order of the plan; `nil` for jobs that have not ended.
  package var outcomes: [JobOutcome?] { state.withLock { $0.outcomes } }
}

extension JobRun {
  /// The number of processors that this process may use: the width of queues without a width.
  package static var availableProcessorCount: Int { AvailableProcessors.count() }
}
