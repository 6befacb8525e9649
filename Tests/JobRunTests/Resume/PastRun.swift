// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import Testing

@testable import JobRun

/// A run whose journal a test writes, without processes.
struct PastRun {
  static let boot = "boot"
  static let shim = AdoptedShim(processID: 4711, startTime: 1)
  static let submission = SlurmSubmission(comment: "opq-1", name: "a", id: 7, submitted: 1000)
  static let process = ProcessIdentity(id: 4712, startTime: 2)

  var directory = RunDirectory(path: "/runs/20260131-235959-k3x9")
  /// The plan of the runner that writes the journal.
  private(set) var plan: JobPlan
  private(set) var records: [JournalRecord] = [.runner(process: 1, boot: boot, host: "host")]
  /// What has become of the attempts without an end.
  var findings: [String: ShimFinding] = [:]

  /// Creates a run of jobs, which are lines of a job file below the key `jobs`.
  init(_ jobs: String) throws { plan = try Self.plan(jobs) }

  static func plan(_ jobs: String) throws -> JobPlan {
    try JobPlan(file: Array("jobs:\n\(jobs)\n".utf8), name: "jobs.yaml", processorCount: 2)
  }

  /// Records the start of an attempt.
  mutating func start(_ id: String, attempt: Int = 1, _ finding: ShimFinding? = nil) {
    records.append(
      .start(id, attempt: attempt, files: "\(id).\(attempt)", definition: definition(of: id)))
    findings[id] = finding
  }

  /// Records the submission of an attempt to a cluster.
  mutating func submit(
    _ id: String, attempt: Int = 1, _ submission: SlurmSubmission = PastRun.submission
  ) {
    records.append(
      .start(
        id, attempt: attempt, files: "\(id).\(attempt)", definition: definition(of: id),
        submission: submission))
  }

  /// Records that an attempt has failed, and that another attempt follows.
  mutating func retry(_ id: String, attempt: Int) {
    records.append(.attempt(id, attempt: attempt, status: 7, reason: "exit status 7"))
  }

  /// Records the end of a job.
  mutating func end(
    _ id: String, _ state: JobOutcome.State, attempts: Int = 0, origin: String? = nil,
    unneeded: Bool = false, waits: Bool = false, byRun: Bool = false
  ) {
    records.append(
      .end(
        id, Self.outcome(state, attempts: attempts, origin: origin, unneeded: unneeded),
        definition: definition(of: id), waits: waits, byRun: byRun))
  }

  /// Records the starts and ends of the first attempts of jobs.
  mutating func run(_ ids: String..., state: JobOutcome.State = .succeeded) {
    for id in ids {
      start(id)
      end(id, state, attempts: 1)
    }
  }

  /// Records that jobs were skipped because of a job.
  mutating func skip(_ ids: String..., because origin: String) {
    for id in ids { end(id, .skipped, origin: origin) }
  }

  /// Adds records.
  mutating func append(_ new: some Sequence<JournalRecord>) { records += new }

  /// Returns the decisions of the next runner.
  ///
  /// - Parameters:
  ///   - jobs: The jobs of the file; `nil` if they have not changed.
  ///   - ids: The ids of jobs that a user retries.
  /// - Returns: The decisions.
  /// - Throws: ``RunFailure`` if one of these jobs must not run again.
  func resumed(_ jobs: String? = nil, retrying ids: [String]? = nil) throws -> Resumed {
    let plan = try jobs.map { try Self.plan($0) } ?? plan
    return Resumed(
      plan: plan,
      resumption: try Resumption(
        plan, directory: directory, history: RunHistory(records), findings: findings, retrying: ids)
    )
  }

  /// Lets the next runner decide and begin.
  mutating func resume(_ jobs: String? = nil, retrying ids: [String]? = nil) throws {
    let next = try resumed(jobs, retrying: ids)
    plan = next.plan
    records.append(.runner(process: 2, boot: Self.boot, host: "host"))
    records += next.resumption.records
  }

  private func definition(of id: String) -> String {
    plan.jobs.first { $0.id == id }.map { JobDefinition.text(of: $0, in: plan) } ?? "removed"
  }

  static func outcome(
    _ state: JobOutcome.State, attempts: Int = 0, origin: String? = nil, unneeded: Bool = false
  ) -> JobOutcome {
    let reason =
      switch state {
      case .succeeded: String?.none
      case .failed: "exit status 1"
      case .skipped: origin.map { "\($0) failed" } ?? "no need has failed"
      case .cancelled: origin.map { "\($0) failed" }
      }
    return JobOutcome(
      state: state, attemptCount: attempts,
      exitStatus: state == .succeeded ? 0 : state == .failed ? 1 : nil, origin: origin,
      reason: reason, lastLine: nil, duration: nil, isUnneeded: unneeded)
  }
}

/// The decisions about the jobs of a plan.
struct Resumed {
  let plan: JobPlan
  let resumption: Resumption

  /// The decisions as words, such as `align[1]: run 2`.
  var words: [String] {
    zip(plan.jobs, resumption.decisions).map { "\($0.id): \(Self.words($1))" }
  }

  /// The decision about a job.
  func decision(_ id: String) -> Resumption.Decision? {
    plan.jobs.firstIndex { $0.id == id }.map { resumption.decisions[$0] }
  }

  /// The decision about a job as words.
  subscript(_ id: String) -> String { decision(id).map { Self.words($0) } ?? "-" }

  /// The number of the last attempt of a job.
  func lastAttempt(_ id: String) -> Int? {
    plan.jobs.firstIndex { $0.id == id }.map { resumption.lastAttempts[$0] }
  }

  /// The ids of the jobs that no longer count as ended.
  var reopened: [String] { resumption.records.flatMap { $0.jobs ?? [] } }

  static func words(_ decision: Resumption.Decision) -> String {
    switch decision {
    case .run(let attempt): "run \(attempt)"
    case .keep(let outcome): "keep \(outcome.state.rawValue)"
    case .adopt(let attempt, _, _): "adopt \(attempt)"
    case .adoptSubmission(let attempt, _, _): "await \(attempt)"
    case .take(let attempt, _, let status): "take \(attempt) with \(status)"
    case .wait: "wait"
    }
  }
}
