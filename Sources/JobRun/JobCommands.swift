// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles
import OperationsCommands
import OperationsCore

/// The operation of a job, which runs the attempts of the job.
typealias JobOperation = RetryOperation<CommandResult>

/// Creates the operations of a plan.
struct JobCommands: Sendable {
  let plan: JobPlan
  let logs: JobLogs
  let gracePeriods: GracePeriods
  /// The kind of all operations; `nil` if each operation has the name of its group as its kind.
  let kind: String?

  /// Creates the operation of a job. It runs the attempts of the job, and it is not in a queue.
  ///
  /// - Parameters:
  ///   - index: The index of the job.
  ///   - willStart: A closure that is called before each attempt with its number. Returns the value of `OPQ_RESULT`;
  ///     `nil` if the attempt must not start, because the closure has cancelled the operation.
  ///   - willRetry: A closure that is called with the error of an attempt if another attempt follows.
  /// - Returns: The operation.
  func operation(
    of index: Int, willStart: @escaping @Sendable (_ attempt: Int) -> String?,
    willRetry: @escaping @Sendable (any Error) -> Void
  ) -> JobOperation {
    let job = plan.jobs[index]
    let pause = job.retryPause
    let operation = JobOperation(
      maximumAttempts: job.maximumAttempts, delay: { _ in pause },
      shouldRetry: { error in
        if error is CancellationError { return false }
        willRetry(error)
        return true
      }
    ) { attempt in
      guard let result = willStart(attempt) else {
        return ResultOperation { throw CancellationError() }
      }
      return self.attempt(attempt, of: index, result: result)
    }
    operation.name = job.id
    operation.kind = kind ?? job.group
    if job.priority != .normal { operation.queuePriority = OperationQueue.priority(job.priority) }
    return operation
  }

  private func attempt(
    _ attempt: Int, of index: Int, result: String
  ) -> ResultOperation<CommandResult> {
    let job = plan.jobs[index]
    let command = command(for: attempt, of: index, result: result)
    guard let timeout = job.timeout else { return CommandOperation(command) }
    let operation = TimeoutOperation(after: timeout) { CommandOperation(command) }
    operation.name = job.id
    return operation
  }

  func command(for attempt: Int, of index: Int, result: String) -> Command {
    let job = plan.jobs[index]
    var command = Command(job.shell, ["-c", job.command])
    command.name = job.id
    command.environment = plan.environment(of: job).mapValues { $0 }
    command.environment["OPQ_JOB"] = job.id
    command.environment["OPQ_RUN"] = logs.runID
    command.environment["OPQ_ATTEMPT"] = "\(attempt)"
    // A run that is itself a job of another run has the variable.
    command.environment.updateValue(
      job.condition == .success ? nil : result, forKey: "OPQ_RESULT")
    command.gracePeriod = job.grace
    command.gracePeriods = gracePeriods
    // The file is new. A program that opens it a second time, as /dev/stderr, writes at its end too.
    command.output = .file(logs.file(of: job, at: index, attempt: attempt), appends: true)
    return command
  }
}

extension JobPlan.Job {
  /// The maximum number of attempts. The retries of a job that must not be repeated have no effect: they may come from
  /// the defaults of the file.
  package var maximumAttempts: Int { isOnce ? 1 : retries + 1 }
}

extension OperationQueue {
  /// Creates the queue of a plan.
  convenience init(_ queue: JobPlan.Queue) {
    self.init(name: queue.name, maxConcurrentOperationCount: queue.width)
    startLimit = queue.startsPerSecond.map { OperationStartLimit($0) }
  }

  fileprivate static func priority(_ priority: JobPlan.Priority) -> Operation.QueuePriority {
    switch priority {
    case .veryLow: .veryLow
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .veryHigh: .veryHigh
    }
  }
}
