// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// What the needs of a job have given together: the value of `OPQ_RESULT`. The results are in ascending order: the
/// result of several needs is the greatest one.
enum NeedResult: Int, Comparable {
  case success, skipped, cancelled
  /// A need waits for a retry. Its state is `failed`, but jobs that wait for a failure do not run.
  case unsettled
  case failure
  /// The process of a need may still run, so no job starts.
  case unknown

  init(_ state: JobOutcome.State) {
    switch state {
    case .succeeded: self = .success
    case .skipped: self = .skipped
    case .cancelled: self = .cancelled
    case .failed: self = .failure
    }
  }

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// The value of the variable.
  var text: String {
    switch self {
    case .success: "success"
    case .skipped: "skipped"
    case .cancelled: "cancelled"
    case .unsettled, .failure, .unknown: "failure"
    }
  }
}

/// Connects operations of jobs by dependencies. Needs that have ended before are no dependencies: their outcomes
/// decide.
struct JobNeeds {
  /// A need for several jobs, and whether it requires the success of all of them.
  private struct Joint: Hashable {
    let range: Range<Int>
    let requiresSuccess: Bool
  }

  /// What a job must wait for because of a need.
  private enum Need {
    /// The need has ended as the job requires it.
    case satisfied
    /// The need has ended, and the job must be skipped.
    case unsatisfied(NeedHasNotSucceeded)
    /// The need has not ended.
    case open(Operation)
  }

  private let run: JobRun
  private let operations: [JobOperation?]
  private let outcomes: [JobOutcome?]
  private var joints: [Joint: Need] = [:]
  /// The results of needs for several jobs.
  private var results: [Range<Int>: NeedResult] = [:]
  /// The operations that the plan does not have.
  private var others: [Operation] = []

  /// - Parameters:
  ///   - run: The run.
  ///   - operations: The operations of the plan's jobs; `nil` for jobs that have ended and do not run again.
  ///   - outcomes: The outcomes of the plan's jobs. Those of jobs with an operation are not used.
  init(run: JobRun, operations: [JobOperation?], outcomes: [JobOutcome?]) {
    self.run = run
    self.operations = operations
    self.outcomes = outcomes
  }

  /// Adds the dependencies of jobs, or cancels their operations if their needs have ended and do not permit their
  /// start.
  ///
  /// - Parameter indices: The indices of jobs whose operations were not added to a queue.
  /// - Returns: Operations that have to run in a queue of their own, because they are no jobs.
  mutating func connect(_ indices: some Sequence<Int>) -> [Operation] {
    for index in indices {
      let job = run.plan.jobs[index]
      guard let operation = operations[index] else { continue }
      run.addOrphanEnds(to: operation, of: index)
      if !job.needs.isEmpty { connect(operation, of: job) }
    }
    return others
  }

  private mutating func connect(_ operation: Operation, of job: JobPlan.Job) {
    let requirement: DependencyRequirement = job.condition == .success ? .success : .completion
    var open: [Operation] = []
    for range in job.needs {
      switch need(range, requiresSuccess: job.condition == .success) {
      case .satisfied: break
      case .unsatisfied(let error): return operation.cancel(with: error)
      case .open(let need): open.append(need)
      }
    }
    for need in open { operation.addDependency(need, requires: requirement) }
    guard job.condition != .success else { return }
    let result = result(of: job)
    if open.isEmpty || result == .unknown {
      if let refusal = JobRun.refusal(of: job, behind: result) { operation.cancel(with: refusal) }
    } else if job.condition == .failure {
      check(operation, of: job, after: open)
    }
  }

  /// Adds an operation that cancels a job if no need has failed. It uses no slot of the job's queue.
  private mutating func check(_ operation: Operation, of job: JobPlan.Job, after needs: [Operation])
  {
    let check = BlockOperation { [run, operation] in
      if let result = run.result(of: job), let refusal = JobRun.refusal(of: job, behind: result) {
        operation.cancel(with: refusal)
      }
    }
    check.name = "check the needs of \(job.id)"
    check.kind = "needs"
    for need in needs { check.addDependency(need) }
    operation.addDependency(check)
    others.append(check)
  }

  private mutating func need(_ range: Range<Int>, requiresSuccess: Bool) -> Need {
    if range.count > 1 { return joint(range, requiresSuccess: requiresSuccess) }
    if let operation = operations[range.lowerBound] { return .open(operation) }
    return requiresSuccess
      ? obstacle(range.lowerBound).map { .unsatisfied($0) } ?? .satisfied : .satisfied
  }

  /// Returns what a need for several jobs means. If some of them have not ended, this is one operation that depends on
  /// them, so that the number of dependencies does not grow with the product of the sizes of two groups.
  private mutating func joint(_ range: Range<Int>, requiresSuccess: Bool) -> Need {
    let joint = Joint(range: range, requiresSuccess: requiresSuccess)
    if let known = joints[joint] { return known }
    let need = newJoint(range, requiresSuccess: requiresSuccess)
    joints[joint] = need
    return need
  }

  private mutating func newJoint(_ range: Range<Int>, requiresSuccess: Bool) -> Need {
    if requiresSuccess {
      for index in range {
        if let obstacle = obstacle(index) { return .unsatisfied(obstacle) }
      }
    }
    let members = operations[range].compactMap(\.self)
    guard !members.isEmpty else { return .satisfied }
    let operation = BlockOperation { [run] in run.noteEnds(of: range) }
    operation.name = "all of \(run.plan.jobs[range.lowerBound].group)"
    operation.kind = "needs"
    for member in members {
      operation.addDependency(member, requires: requiresSuccess ? .success : .completion)
    }
    others.append(operation)
    return .open(operation)
  }

  /// Why the jobs that require the success of an ended job are skipped; `nil` if it has succeeded or has not ended.
  private func obstacle(_ index: Int) -> NeedHasNotSucceeded? {
    guard operations[index] == nil, let outcome = outcomes[index] else { return nil }
    return NeedHasNotSucceeded(outcome, of: run.plan.jobs[index].id)
  }

  /// Returns the result of the needs that have ended.
  private mutating func result(of job: JobPlan.Job) -> NeedResult {
    var result = NeedResult.success
    for range in job.needs {
      let next =
        results[range]
        ?? range.reduce(.success) { result, index in
          max(result, outcomes[index].map { run.needResult($0, of: index) } ?? .success)
        }
      if range.count > 1 { results[range] = next }
      result = max(result, next)
    }
    return result
  }
}
