// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// What the needs of a job have given together: the value of `OPQ_RESULT`. The results are in ascending order: the
/// result of several needs is the greatest one.
enum NeedResult: Int, Comparable {
  case success, skipped, cancelled, failure

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
    case .failure: "failure"
    }
  }
}

/// Connects the operations of a plan by dependencies.
struct JobNeeds {
  /// A need for several jobs, and whether it requires the success of all of them.
  private struct Joint: Hashable {
    let range: Range<Int>
    let requiresSuccess: Bool
  }

  private let run: JobRun
  private let operations: [JobOperation]
  private var joints: [Joint: Operation] = [:]
  /// The operations that the plan does not have.
  private var others: [Operation] = []

  /// - Parameters:
  ///   - run: The run.
  ///   - operations: The operations of all jobs of the plan, which were not added to a queue.
  init(run: JobRun, operations: [JobOperation]) {
    self.run = run
    self.operations = operations
  }

  /// Adds the dependencies of all jobs.
  ///
  /// - Returns: Operations that have to run in a queue of their own, because they are no jobs.
  mutating func connect() -> [Operation] {
    for (job, operation) in zip(run.plan.jobs, operations) where !job.needs.isEmpty {
      connect(operation, of: job)
    }
    return others
  }

  private mutating func connect(_ operation: Operation, of job: JobPlan.Job) {
    let requiresSuccess = job.condition == .success
    let needed = job.needs.map { operationOf($0, requiresSuccess: requiresSuccess) }
    for need in needed {
      operation.addDependency(need, requires: requiresSuccess ? .success : .completion)
    }
    guard job.condition == .failure else { return }
    // This operation cancels the job if no need has failed. It uses no slot of the job's queue.
    let check = BlockOperation { [run, operation] in
      if let result = run.result(of: job), result != .failure {
        operation.cancel(with: NoNeedHasFailed())
      }
    }
    check.name = "check the needs of \(job.id)"
    check.kind = "needs"
    for need in needed { check.addDependency(need) }
    operation.addDependency(check)
    others.append(check)
  }

  /// Returns the operation of a need. If several jobs are needed, this is an operation that depends on all of them, so
  /// that the number of dependencies does not grow with the product of the sizes of two groups.
  private mutating func operationOf(_ need: Range<Int>, requiresSuccess: Bool) -> Operation {
    if need.count == 1 { return operations[need.lowerBound] }
    let joint = Joint(range: need, requiresSuccess: requiresSuccess)
    if let known = joints[joint] { return known }
    let operation = BlockOperation { [run] in run.noteEnds(of: need) }
    operation.name = "all of \(run.plan.jobs[need.lowerBound].group)"
    operation.kind = "needs"
    for member in operations[need] {
      operation.addDependency(member, requires: requiresSuccess ? .success : .completion)
    }
    joints[joint] = operation
    others.append(operation)
    return operation
  }
}
