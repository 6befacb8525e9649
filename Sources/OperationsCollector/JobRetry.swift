// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Retries jobs of this process if a viewer requests it.
package enum JobRetry {
  /// The answer for one job.
  package enum Answer: Sendable, Equatable {
    /// The job is retried.
    case accepted
    /// The job is not retried, for this reason. The reason is a sentence without a full stop.
    case refused(String)
  }

  /// A closure that retries jobs. It receives the names of jobs, each name once, and returns
  /// one answer for each name, in the same order. The names may contain any characters, and may be
  /// the names of operations that are not jobs. The collector's thread calls the closure, and
  /// viewers receive no updates until it returns.
  package typealias Handler = @Sendable (_ names: [String]) -> [Answer]

  private static let handler = Locked<Handler?>(nil)

  /// Sets the closure that retries jobs. If it is `nil`, the process refuses the command. The
  /// greeting to a viewer contains whether the process has a closure. Therefore a program sets it
  /// before it calls `OperationMonitor.listen(mode:logger:)`.
  package static func setHandler(_ new: Handler?) {
    // The previous closure is released outside the lock.
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    withExtendedLifetime(old) {}
  }

  /// Whether this process can retry jobs.
  package static var isPossible: Bool { currentHandler != nil }

  /// The closure that retries jobs; `nil` if this process cannot do this.
  static var currentHandler: Handler? { handler.withLock { $0 } }
}

extension CollectorTable {
  /// Retries jobs: the jobs with the names of these operations, and the jobs with these names.
  func retry(
    _ ids: [OperationReport.ID], names: [String],
    with handler: JobRetry.Handler? = JobRetry.currentHandler
  ) -> CommandResult {
    let command = MonitorCommand.retry(ids, names: names)
    let jobs = ids.map { entries[$0]?.report.name } + names
    guard let handler else { return CommandResult(cannotRetry: command, count: jobs.count) }
    var seen: Set<String> = []
    let distinct = jobs.compactMap { $0 }.filter { seen.insert($0).inserted }
    let answers = Dictionary(
      uniqueKeysWithValues: zip(distinct, distinct.isEmpty ? [] : handler(distinct)))
    var result = CommandResult(command: command, outcomes: [])
    for (index, job) in jobs.enumerated() {
      switch job.map({ answers[$0] ?? .refused("no reason given") }) {
      case .accepted: result.outcomes.append(.requested)
      case .refused(let reason):
        result.outcomes.append(.notRetryable)
        result.refusals[index] = reason
      case nil: result.outcomes.append(.unknown)
      }
    }
    return result
  }
}
