// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Executes jobs of this process again if a viewer requests it.
package enum JobRetry {
  /// The answer for one job.
  package enum Answer: Sendable, Equatable {
    /// The job is executed again.
    case accepted
    /// The job is not executed again, for this reason. The reason is a sentence without a full stop.
    case refused(String)
  }

  /// A closure that executes jobs again. It receives the names of jobs, each name once, and returns
  /// one answer for each name, in the same order. The names may contain any characters, and may be
  /// the names of operations that are not jobs. The collector's thread calls the closure, and
  /// viewers receive no updates until it returns.
  package typealias Handler = @Sendable (_ names: [String]) -> [Answer]

  private static let handler = Locked<Handler?>(nil)

  /// Sets the closure that executes jobs again. If it is `nil`, the process refuses the command. The
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

  /// Whether this process can execute jobs again.
  package static var isPossible: Bool { handler.withLock { $0 != nil } }

  /// Returns the answers for jobs; `nil` if this process cannot execute jobs again. A missing answer
  /// is a refusal.
  fileprivate static func answers(for names: [String]) -> [String: Answer]? {
    guard let handler = handler.withLock({ $0 }) else { return nil }
    if names.isEmpty { return [:] }
    let answers = handler(names)
    return Dictionary(
      zip(names, answers + names.dropFirst(answers.count).map { _ in .refused("no reason given") }),
      uniquingKeysWith: { first, _ in first })
  }
}

extension CollectorTable {
  /// Executes jobs again: the jobs with the names of these operations, and the jobs with these names.
  func retry(_ ids: [OperationReport.ID], names: [String]) -> CommandResult {
    let command = MonitorCommand.retry(ids, names: names)
    let jobs = ids.map { entries[$0]?.report.name } + names
    var seen: Set<String> = []
    let distinct = jobs.compactMap { $0 }.filter { seen.insert($0).inserted }
    guard let answers = JobRetry.answers(for: distinct) else {
      return CommandResult(cannotRetry: command, count: jobs.count)
    }
    var result = CommandResult(command: command, outcomes: [])
    for (index, job) in jobs.enumerated() {
      switch job.flatMap({ answers[$0] }) {
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
