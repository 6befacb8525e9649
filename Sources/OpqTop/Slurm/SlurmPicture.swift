// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands

/// Turns the answers of `squeue` into updates, as a process would send them: jobs are operations, and partitions are
/// queues.
///
/// A job stays after Slurm has forgotten it, and so do its dependencies. If more than ``mostForgotten`` jobs are
/// forgotten, those that ended first are removed. The counts of the queues still contain them.
struct SlurmPicture: Sendable {
  /// The maximum number of jobs that are kept after Slurm has forgotten them.
  static let mostForgotten = 10_000

  /// A job, with values of earlier answers.
  struct Job: Sendable, Equatable {
    /// The job in the last answer that contained it.
    var shown: WatchedSlurmJob
    /// The tasks of the job in the last answer that contained them; `nil` if the job belongs to no array. If tasks that
    /// are one job are cancelled, later answers contain the job without its tasks.
    var tasks: SlurmTasks?
    /// The id in Slurm's notation that Slurm has shown with the tasks.
    var taskName = ""
    /// All dependencies that Slurm has shown, in the order in which it has shown them.
    var dependencies: [SlurmDependency] = []
    /// The time at which the last dependency was fulfilled; `nil` if the job had no dependencies, or still has some.
    var becameReady: MonitorTime?
    /// The time of the answer that did not contain the job; `nil` if the last answer contains it.
    var forgotten: MonitorTime?
    /// The time of the first answer that showed the job as ended; `nil` if it has not ended.
    var foundEnded: MonitorTime?
    var report: OperationReport?
  }

  /// The tasks of an array, to find those that a dependency names.
  private struct TaskArray: Sendable {
    /// The tasks, sorted by id.
    var members: [OperationReport.ID] = []
    /// The tasks that have not ended, sorted by id.
    var awaited: [OperationReport.ID] = []
    var byNumber: [UInt64: OperationReport.ID] = [:]
    /// The tasks that Slurm has not separated.
    var rest: OperationReport.ID?
  }

  /// Whether the kind of an operation is the name of its user.
  let showsUsers: Bool
  /// The time of day at which the clock of this process was zero, in seconds since 1970.
  let secondsSince1970AtZero: Double
  private(set) var jobs: [OperationReport.ID: Job] = [:]
  private var queues: [QueueReport] = []
  private var queueIndexes: [String: Int] = [:]
  /// The counts of the jobs that were removed, by queue.
  private var removedCounts: [QueueReport.ID: StateCounts] = [:]
  private let mostForgotten: Int

  /// Creates a picture without jobs.
  ///
  /// - Parameters:
  ///   - showsUsers: Whether the kind of an operation is the name of its user.
  ///   - secondsSince1970AtZero: The time of day at which the clock of this process was zero, in seconds since 1970.
  ///   - mostForgotten: The maximum number of jobs that are kept after Slurm has forgotten them.
  init(
    showsUsers: Bool, secondsSince1970AtZero: Double,
    mostForgotten: Int = SlurmPicture.mostForgotten
  ) {
    self.showsUsers = showsUsers
    self.secondsSince1970AtZero = secondsSince1970AtZero
    self.mostForgotten = mostForgotten
  }

  /// The number of jobs that were ever shown.
  var totalCount: Int { queues.counts.total }

  /// Returns the complete state as one update.
  func whole(at now: MonitorTime) -> Update {
    let reports = jobs.values.compactMap(\.report).sorted { $0.id < $1.id }
    return Update(time: now, queues: queues, changed: reports)
  }

  /// Applies an answer of `squeue`.
  ///
  /// - Parameters:
  ///   - answer: The jobs of the answer.
  ///   - now: The time of the answer.
  /// - Returns: The changes.
  mutating func take(_ answer: [WatchedSlurmJob], at now: MonitorTime) -> Update {
    for shown in answer { take(shown, at: now) }
    let seen = Set(answer.lazy.map { OperationReport.ID($0.id) })
    for (id, job) in jobs where job.forgotten == nil && !seen.contains(id) {
      jobs[id]?.forgotten = now
    }
    let removed = removeForgotten()
    let changed = makeReports(at: now)
    count()
    return Update(time: now, queues: queues, changed: changed, removed: removed)
  }

  private mutating func take(_ shown: WatchedSlurmJob, at now: MonitorTime) {
    let id = OperationReport.ID(shown.id)
    var job = jobs[id] ?? Job(shown: shown)
    for dependency in shown.dependencies
    where !job.dependencies.contains(where: { $0.isSame(as: dependency) }) {
      job.dependencies.append(dependency)
    }
    if shown.hasUnmetDependencies {
      job.becameReady = nil
    } else if job.shown.hasUnmetDependencies {
      job.becameReady = now
    }
    job.foundEnded = shown.state.meaning.isEnd ? job.foundEnded ?? now : nil
    job.shown = shown
    if shown.tasks != nil { (job.tasks, job.taskName) = (shown.tasks, shown.name) }
    job.forgotten = nil
    jobs[id] = job
    if queueIndexes[shown.partition] == nil {
      queueIndexes[shown.partition] = queues.count
      queues.append(
        QueueReport(id: QueueReport.ID(UInt64(queues.count + 1)), name: shown.partition))
    }
  }

  /// Removes forgotten jobs if there are more than the maximum, and returns their ids in ascending order.
  private mutating func removeForgotten() -> [OperationReport.ID] {
    let forgotten = jobs.filter { $0.value.forgotten != nil }
    guard forgotten.count > mostForgotten else { return [] }
    let byEnd = forgotten.sorted {
      let ends = [$0, $1].map { $0.value.foundEnded ?? $0.value.forgotten ?? .init(nanoseconds: 0) }
      return (ends[0], $0.key) < (ends[1], $1.key)
    }
    let removed = byEnd.prefix(forgotten.count - mostForgotten).map(\.key)
    for id in removed {
      guard let report = jobs.removeValue(forKey: id)?.report else { continue }
      removedCounts[report.queue, default: StateCounts()].add(report.state.afterEnd)
    }
    return removed.sorted()
  }

  // MARK: Reports

  /// Makes the reports of all jobs, and returns those that have changed, sorted by id.
  private mutating func makeReports(at now: MonitorTime) -> [OperationReport] {
    let arrays = arrays()
    var dependents: [OperationReport.ID: Int] = [:]
    var reports: [OperationReport.ID: OperationReport] = [:]
    for (id, job) in jobs {
      guard let index = queueIndexes[job.shown.partition] else { continue }
      let dependencies = operations(job.dependencies, of: job, in: arrays)
      let unmet = operations(job.unmetDependencies, of: job, in: arrays, onlyAwaited: true)
      for dependency in dependencies { dependents[dependency, default: 0] += 1 }
      var report = report(of: job, queue: queues[index].id, at: now)
      report.dependencies = dependencies
      report.unmetDependencyCount = report.state == .waiting ? unmet.count : 0
      reports[id] = report
    }
    var changed: [OperationReport] = []
    for (id, var report) in reports {
      report.dependentCount = dependents[id] ?? 0
      if jobs[id]?.report != report { changed.append(report) }
      jobs[id]?.report = report
    }
    return changed.sorted { $0.id < $1.id }
  }

  private func arrays() -> [UInt64: TaskArray] {
    var arrays: [UInt64: TaskArray] = [:]
    for (id, job) in jobs {
      guard let tasks = job.tasks else { continue }
      let array = job.shown.arrayID
      arrays[array, default: TaskArray()].members.append(id)
      if !job.isOver { arrays[array]?.awaited.append(id) }
      if let number = tasks.number {
        arrays[array]?.byNumber[number] = id
      } else {
        arrays[array]?.rest = id
      }
    }
    // Many jobs can depend on one array, so its tasks are sorted here.
    return arrays.mapValues { array in
      var array = array
      array.members.sort()
      array.awaited.sort()
      return array
    }
  }

  /// Returns the operations that dependencies name, each one once. A dependency on a job that is not known names an
  /// operation that is not known. If only awaited operations are requested, tasks that have ended are left out where a
  /// dependency is on all tasks of an array.
  private func operations(
    _ dependencies: [SlurmDependency], of job: Job, in arrays: [UInt64: TaskArray],
    onlyAwaited: Bool = false
  ) -> [OperationReport.ID] {
    var found: [OperationReport.ID] = []
    var seen: Set<OperationReport.ID> = [OperationReport.ID(job.shown.id)]
    for dependency in dependencies {
      let array = arrays[dependency.job]
      let number: UInt64? =
        switch dependency.tasks {
        case .all: nil
        case .number(let number): number
        case .corresponding: job.tasks?.number
        }
      let one = OperationReport.ID(dependency.job)
      let named: [OperationReport.ID]
      if let number {
        named = [array?.byNumber[number] ?? array?.rest ?? one]
      } else if let array {
        named = onlyAwaited && array.members.count > 1 ? array.awaited : array.members
      } else {
        named = [one]
      }
      found += named.filter { seen.insert($0).inserted }
    }
    return found
  }

  private mutating func count() {
    var counts = removedCounts
    for report in jobs.values.lazy.compactMap(\.report) {
      counts[report.queue, default: StateCounts()].add(report.state)
    }
    for index in queues.indices { queues[index].counts = counts[queues[index].id] ?? StateCounts() }
  }
}

extension SlurmPicture.Job {
  /// The dependencies that are not fulfilled; empty if Slurm has forgotten the job.
  var unmetDependencies: [SlurmDependency] {
    forgotten == nil ? shown.dependencies.filter { !$0.isMet } : []
  }

  /// Whether the job has ended, or Slurm has forgotten it.
  var isOver: Bool { forgotten != nil || shown.state.meaning.isEnd }
}

extension SlurmDependency {
  /// Whether both dependencies are on the same tasks.
  fileprivate func isSame(as other: SlurmDependency) -> Bool {
    job == other.job && tasks == other.tasks
  }
}

extension OperationState {
  /// The state as which a removed job is counted. A job whose end was not shown is counted as finished.
  fileprivate var afterEnd: OperationState { isOver ? self : .finished }
}
