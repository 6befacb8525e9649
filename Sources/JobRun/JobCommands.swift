// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import OperationsCore

/// The operation of a job, which runs attempts of the job.
typealias JobOperation = RetryOperation<CommandResult>
/// The operation of an attempt.
typealias AttemptOperation = ResultOperation<CommandResult>

/// The attempts that an operation of a job can have.
struct AttemptSeries: Sendable {
  /// What the first attempt is.
  enum Beginning: Sendable {
    /// The start of the command.
    case command
    /// The rest of an attempt that an earlier runner has started.
    case adopted(Adoption)
    /// An attempt that an earlier runner has started, and that has failed with this error.
    case failed(any Error)
  }

  /// The number of the first attempt.
  let first: Int
  /// The number of the last attempt, if no earlier one succeeds. It is not lower than ``first``.
  let last: Int
  let beginning: Beginning

  /// Creates a series.
  init(first: Int, last: Int, _ beginning: Beginning = .command) {
    self.first = first
    self.last = max(first, last)
    self.beginning = beginning
  }
}

/// Creates the commands of a plan, and the operations of their attempts.
struct JobCommands: Sendable {
  let plan: JobPlan
  let directory: RunDirectory
  let programs: ShimPrograms
  let gracePeriods: GracePeriods
  /// The working directory of the commands; `nil` for that of this process.
  let workingDirectory: String?
  /// The cluster on which the commands execute; `nil` for this machine.
  var cluster: JobCluster? = nil

  /// Creates the operation of an attempt that starts the command of a job.
  ///
  /// - Parameters:
  ///   - attempt: The number of the attempt.
  ///   - index: The index of the job.
  ///   - result: The value of `OPQ_RESULT`.
  ///   - willStart: A closure that is called with the name of the attempt's files before the command starts. If it
  ///     throws, the command does not start.
  /// - Returns: The operation.
  func operation(
    for attempt: Int, of index: Int, result: String,
    willStart: @escaping @Sendable (_ files: String) async throws -> Void
  ) -> AttemptOperation {
    let job = plan.jobs[index]
    let command = command(for: attempt, of: index, result: result)
    let (name, files) = directory.files(ofJob: index + 1, id: job.id, attempt: attempt)
    let makeOperation: @Sendable () -> AttemptOperation = { [programs] in
      ShimOperation(
        command, shell: job.shell, text: job.command, files: files, programs: programs
      ) { try await willStart(name) }
    }
    guard let limit = job.timeout else { return makeOperation() }
    let operation = TimeoutOperation(after: limit, makeOperation: makeOperation)
    operation.name = job.id
    return operation
  }

  /// Creates the command of an attempt. Its environment has the variables of the file, of the job and of the run.
  func command(for attempt: Int, of index: Int, result: String) -> Command {
    let job = plan.jobs[index]
    var command = Command(job.shell, ["-c", job.command])
    command.name = job.id
    command.workingDirectory = workingDirectory
    command.environment = plan.environment(of: job).mapValues { $0 }
    command.environment["OPQ_JOB"] = job.id
    command.environment["OPQ_RUN"] = directory.id
    command.environment["OPQ_ATTEMPT"] = "\(attempt)"
    // A run that is itself a job of another run has the variable.
    command.environment.updateValue(
      job.condition == .success ? nil : result, forKey: "OPQ_RESULT")
    command.gracePeriod = job.grace
    command.gracePeriods = gracePeriods
    return command
  }

  /// Creates the command of an attempt that an earlier runner has started. Only its name and grace period are used.
  func adoptedCommand(named name: String, grace: Duration?) -> Command {
    var command = Command("/bin/sh")
    command.name = name
    if let grace { command.gracePeriod = grace }
    command.gracePeriods = gracePeriods
    return command
  }
}

extension JobPlan.Job {
  /// The maximum number of attempts. The retries of a job that must not run twice have no effect: they may come from
  /// the defaults of the file.
  package var maximumAttempts: Int { isOnce ? 1 : retries + 1 }
}

extension OperationQueue {
  /// Creates the queue of a plan, without its start limit.
  convenience init(_ queue: JobPlan.Queue) {
    self.init(name: queue.name, maxConcurrentOperationCount: queue.width)
  }

  static func priority(_ priority: JobPlan.Priority) -> Operation.QueuePriority {
    switch priority {
    case .veryLow: .veryLow
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .veryHigh: .veryHigh
    }
  }
}
