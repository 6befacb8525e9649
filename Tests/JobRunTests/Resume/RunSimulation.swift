// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import TestSupport

@testable import JobRun

/// A run whose runners end at random moments, whose commands end in random ways, and whose job file changes. There are
/// no processes. The journal is the only thing that a runner knows about earlier ones.
struct RunSimulation {
  /// A rule that the simulation has broken.
  struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// What a runner knows about a job.
  private enum Progress {
    case pending(attempt: Int)
    case running(attempt: Int)
    case ended(JobOutcome)
  }

  private static let directory = RunDirectory(path: "/run")

  private var random: SeededGenerator
  private var jobs: RandomJobs
  private(set) var plan: JobPlan
  private(set) var records: [JournalRecord] = []
  /// What has become of the attempts that no runner awaits, by their files.
  private var ends: [String: ShimFinding] = [:]
  private var progress: [Progress] = []
  private var resumption: Resumption
  private var requested: Set<String> = []
  /// The jobs whose successes do not count, because a runner has found that they or their needs had changed. The job
  /// file can have changed back since.
  private var outdated: Set<String> = []

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    jobs = RandomJobs(count: Int.random(in: 1...9, using: &random), &random)
    plan = try jobs.plan(&random)
    resumption = .fresh(plan)
  }

  /// Starts runners until a runner has nothing to do.
  ///
  /// - Parameters:
  ///   - crashCount: The number of runners that end before their jobs.
  ///   - retries: Whether users retry jobs.
  /// - Throws: ``Violation``.
  mutating func run(crashCount: Int, retries: Bool) throws {
    for _ in 0..<crashCount {
      if random.happens(0.4) {
        jobs.change(&random)
        plan = try jobs.plan(&random)
      }
      try begin(retrying: retries && random.happens(0.4))
      try work(limit: Int.random(in: 0...20, using: &random))
      if random.happens(0.3) { interrupt() }
    }
    // A job whose command still runs with an earlier definition runs again in the next runner.
    for _ in 0..<4 {
      try begin(retrying: false)
      guard resumption.hasWork else { return }
      try work(limit: .max)
    }
    throw Violation("a runner always finds something to do")
  }

  /// Lets a runner decide about the jobs.
  private mutating func begin(retrying: Bool) throws {
    let ids = retrying ? [plan.jobs.randomElement(using: &random)?.id ?? ""] : nil
    let history = RunHistory(records)
    for (_, job) in history.jobs {
      guard let start = job.openStart, ends[start.files].map({ $0 == .alive(PastRun.shim) }) ?? true
      else { continue }
      ends[start.files] = [
        .alive(PastRun.shim), .ended(status: 0), .ended(status: 7), .lost,
      ].randomElement(using: &random)
    }
    do {
      resumption = try decide(records, retrying: ids)
      // A retry counts until the job starts, also if its runner is killed before.
      requested.formUnion(ids ?? [])
    } catch {
      resumption = try decide(records, retrying: nil)
    }
    records.append(.runner(process: 1, boot: PastRun.boot, host: ""))
    records += resumption.records
    let reopened = Set(resumption.records.flatMap { $0.jobs ?? [] })
    for index in plan.order where reopened.contains(plan.jobs[index].id) {
      if let start = lastSuccess(of: index), !isUsable(start, of: index) {
        outdated.insert(plan.jobs[index].id)
      }
    }
    try checkSecondDecision()
    try executeDecisions()
  }

  private func decide(
    _ records: [JournalRecord], retrying: [String]?
  ) throws(RunFailure) -> Resumption {
    let history = RunHistory(records)
    let findings = history.jobs.compactMapValues { $0.openStart.flatMap { ends[$0.files] } }
    return try Resumption(
      plan, directory: Self.directory, history: history, findings: findings,
      retrying: retrying)
  }

  /// A runner that is killed after its first records leaves the same decisions to the next one.
  private func checkSecondDecision() throws {
    let second = try decide(records, retrying: nil)
    for (index, job) in plan.jobs.enumerated() {
      var first = resumption.decisions[index]
      if case .wait(let outcome) = first { first = .keep(outcome) }
      guard second.decisions[index] == first,
        second.lastAttempts[index] == resumption.lastAttempts[index],
        second.definitions[index] == resumption.definitions[index]
      else {
        throw Violation("\(job.id): \(first), but then \(second.decisions[index])")
      }
    }
    guard second.records.isEmpty else { throw Violation("records are written twice") }
  }

  private mutating func executeDecisions() throws {
    progress = plan.jobs.map { _ in .pending(attempt: 1) }
    for (index, decision) in resumption.decisions.enumerated() {
      switch decision {
      case .run(let attempt): progress[index] = .pending(attempt: attempt)
      case .keep(let outcome), .wait(let outcome): progress[index] = .ended(outcome)
      case .adopt(let attempt, _, _), .adoptSubmission(let attempt, _, _):
        progress[index] = .running(attempt: attempt)
      case .take(let attempt, _, let status): end(index, attempt: attempt, status: status)
      }
    }
  }

  /// Starts and ends jobs, at most as many as the limit.
  private mutating func work(limit: Int) throws {
    var count = 0
    while count < limit {
      count += 1
      let possible = plan.jobs.indices.filter { index in
        switch progress[index] {
        case .running: true
        case .ended: false
        case .pending: needStates(of: index) != nil
        }
      }
      guard let index = possible.randomElement(using: &random) else { break }
      switch progress[index] {
      case .running(let attempt):
        end(index, attempt: attempt, status: random.happens(0.7) ? 0 : 7)
      case .pending(let attempt): try start(index, attempt: attempt)
      case .ended: break
      }
    }
    if progress.allSatisfy({ if case .ended = $0 { true } else { false } }) {
      records.append(.finish())
    } else if limit == .max {
      throw Violation("the jobs do not end")
    }
  }

  /// The states of the needs of a job; `nil` if one of them has not ended. A job that waits has not failed.
  private func needStates(of index: Int) -> [JobOutcome.State]? {
    var states: [JobOutcome.State] = []
    for need in plan.jobs[index].needs.joined() {
      guard case .ended(let outcome) = progress[need] else { return nil }
      states.append(resumption.unsettledJobs.contains(need) ? .cancelled : outcome.state)
    }
    return states
  }

  private mutating func start(_ index: Int, attempt: Int) throws {
    let job = plan.jobs[index]
    let states = needStates(of: index) ?? []
    let isSkipped =
      switch job.condition {
      case .success: states.contains { $0 != .succeeded }
      case .failure: !states.isEmpty && !states.contains(.failed)
      case .always: false
      }
    guard !isSkipped else {
      let needs = job.needs.joined()
      let origin = needs.first {
        if case .ended(let outcome) = progress[$0] { outcome.state != .succeeded } else { false }
      }
      let id = job.condition == .success ? origin.map { plan.jobs[$0].id } : nil
      record(index, PastRun.outcome(.skipped, attempts: attempt - 1, origin: id))
      return
    }
    try checkStart(index, attempt: attempt)
    requested.remove(job.id)
    outdated.remove(job.id)
    let definition = resumption.definitions[index]
    let files = Self.directory.files(ofJob: index + 1, id: job.id, attempt: attempt).name
    if let other = records.first(where: { $0.event == .start && $0.files == files }) {
      throw Violation("\(job.id) has the files of an attempt of \(other.job ?? "")")
    }
    records.append(.start(job.id, attempt: attempt, files: files, definition: definition))
    progress[index] = .running(attempt: attempt)
  }

  /// A job that has succeeded starts again only if it or a need has changed, and a job that must not run twice only if
  /// a user retries it.
  private func checkStart(_ index: Int, attempt: Int) throws {
    let job = plan.jobs[index]
    let starts = records.indices.filter { records[$0].event == .start && records[$0].job == job.id }
    if job.isOnce, !starts.isEmpty, !requested.contains(job.id) {
      throw Violation("\(job.id) must not run twice, and runs again")
    }
    if let last = starts.last, records[last].attempt ?? 0 >= attempt {
      throw Violation("\(job.id) starts with the number of an earlier attempt")
    }
    // The first start after a success needs a reason.
    guard let start = lastSuccess(of: index), !outdated.contains(job.id),
      hasDefinition(start, of: index), !isBehindChange(start, of: index)
    else { return }
    throw Violation("\(job.id) has succeeded, and runs again")
  }

  /// The index of the last start of a job; `nil` if this attempt has not succeeded.
  private func lastSuccess(of index: Int) -> Int? {
    let id = plan.jobs[index].id
    guard let start = records.lastIndex(where: { $0.event == .start && $0.job == id }),
      let end = records[start...].last(where: { $0.event == .end && $0.job == id }),
      end.state == .succeeded
    else { return nil }
    return start
  }

  /// Returns whether the success of an attempt belongs to the definition of the job and to the last results of its
  /// needs.
  private func isUsable(_ start: Int, of index: Int) -> Bool {
    let needs = needIDs(of: index)
    let ended = Set(records[..<start].filter { $0.event == .end }.compactMap(\.job))
    return hasDefinition(start, of: index) && !isBehindChange(start, of: index)
      && needs.isSubset(of: ended) && needs.isDisjoint(with: outdated)
  }

  /// Returns whether the end of an attempt has the present definition of the job.
  private func hasDefinition(_ start: Int, of index: Int) -> Bool {
    let id = plan.jobs[index].id
    let end = records[start...].last { $0.event == .end && $0.job == id }
    return end?.definition == resumption.definitions[index]
  }

  /// Returns whether a need has ended after the start of an attempt.
  private func isBehindChange(_ start: Int, of index: Int) -> Bool {
    let needs = needIDs(of: index)
    return records[start...].contains { $0.event == .end && needs.contains($0.job ?? "") }
  }

  private func needIDs(of index: Int) -> Set<String> {
    Set(plan.jobs[index].needs.joined().map { plan.jobs[$0].id })
  }

  private mutating func end(_ index: Int, attempt: Int, status: Int32) {
    if status == 0 {
      record(index, PastRun.outcome(.succeeded, attempts: attempt))
    } else if attempt < resumption.lastAttempts[index] {
      records.append(
        .attempt(plan.jobs[index].id, attempt: attempt, status: status, reason: "exit status 7"))
      progress[index] = .pending(attempt: attempt + 1)
    } else {
      record(index, PastRun.outcome(.failed, attempts: attempt))
    }
  }

  private mutating func record(_ index: Int, _ outcome: JobOutcome, byRun: Bool = false) {
    records.append(
      .end(
        plan.jobs[index].id, outcome, definition: resumption.definitions[index], byRun: byRun))
    progress[index] = .ended(outcome)
  }

  /// Ends all jobs because the run is ended.
  private mutating func interrupt() {
    for index in plan.jobs.indices {
      switch progress[index] {
      case .running(let attempt):
        record(index, PastRun.outcome(.cancelled, attempts: attempt), byRun: true)
      case .pending(let attempt):
        record(index, PastRun.outcome(.cancelled, attempts: attempt - 1), byRun: true)
      case .ended: break
      }
    }
  }
}

extension RunSimulation {
  /// Checks that the outcomes of all jobs belong to the newest plan, and to the newest outcomes of their needs.
  func checkOutcomes() throws {
    let history = RunHistory(records)
    for (index, job) in plan.jobs.enumerated() {
      guard let past = history.jobs[job.id], let outcome = past.outcome else {
        throw Violation("\(job.id) has not ended")
      }
      let needs = job.needs.joined().compactMap { history.jobs[plan.jobs[$0].id] }
      let states = needs.map { $0.waits ? .cancelled : $0.outcome?.state ?? .cancelled }
      if past.waits || outcome.state == .cancelled { continue }
      if outcome.state == .skipped {
        let isRight =
          job.condition == .success
          ? states.contains { $0 != .succeeded } : !states.contains(.failed)
        guard isRight, job.condition != .always else {
          throw Violation("\(job.id) was skipped, although its needs permit its start")
        }
        continue
      }
      guard past.lastStart?.definition == JobDefinition.texts(of: plan)[index] else {
        throw Violation("\(job.id) has an outcome of an earlier definition")
      }
      if job.condition == .success, states.contains(where: { $0 != .succeeded }) {
        throw Violation("\(job.id) has run, although a need has not succeeded")
      }
      // A need that waits can have failed before.
      let canHaveFailed =
        states.contains(.failed) || needs.contains { $0.waits } || hasRemovedFailure(job, history)
      if job.condition == .failure, !states.isEmpty, !canHaveFailed {
        throw Violation("\(job.id) has run, although no need has failed")
      }
      let start = records.lastIndex { $0.event == .start && $0.job == job.id } ?? 0
      for need in job.needs.joined() where endIndex(of: plan.jobs[need].id) > start {
        throw Violation("\(job.id) has not run after the last end of \(plan.jobs[need].id)")
      }
    }
  }

  /// Returns whether a job of a needed group has failed that is not in the newest plan. The definition of a job contains
  /// the name of the group, and not its jobs.
  private func hasRemovedFailure(_ job: JobPlan.Job, _ history: RunHistory) -> Bool {
    let groups = job.needs.map { "\(plan.jobs[$0.lowerBound].group)[" }
    return history.jobs.contains { id, past in
      past.outcome?.state == .failed && !plan.jobs.contains { $0.id == id }
        && groups.contains { id.hasPrefix($0) }
    }
  }

  /// The index of the record with which a job has got its last state. A job that waits has no new result.
  private func endIndex(of id: String) -> Int {
    var index = 0
    var state: JobOutcome.State?
    for (number, record) in records.enumerated() where record.event == .end && record.job == id {
      if record.waits == true { continue }
      if record.state != .skipped || state != .skipped { index = number }
      state = record.state
    }
    return index
  }
}
