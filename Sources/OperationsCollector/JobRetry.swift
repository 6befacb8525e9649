// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

/// Repeats the jobs of this process that viewers name.
package enum JobRetry {
  /// The answer for one job.
  package enum Answer: Sendable, Equatable {
    /// The job is executed again.
    case accepted
    /// The job is not executed again, for this reason. The reason is a sentence without a full stop.
    case refused(String)
  }

  /// A closure that repeats jobs. It receives the names of operations, each name once, and returns
  /// one answer for each name, in the same order. The collector's thread calls it, and viewers
  /// receive no updates until it returns.
  package typealias Handler = @Sendable (_ names: [String]) -> [Answer]

  private static let handler = Locked<Handler?>(nil)

  /// Sets the closure that repeats jobs. If it is `nil`, the process cannot repeat jobs. The greeting
  /// to a viewer contains whether the process can. Therefore a program sets the closure before it
  /// calls `OperationMonitor.listen(mode:logger:)`.
  package static func setHandler(_ new: Handler?) {
    // The previous closure is released outside the lock.
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    withExtendedLifetime(old) {}
  }

  /// Whether this process can repeat jobs.
  package static var isPossible: Bool { handler.withLock { $0 != nil } }

  /// Returns the answers for jobs; `nil` if this process cannot repeat jobs.
  static func answers(for names: [String]) -> [Answer]? {
    handler.withLock { $0 }.map { $0(names) }
  }
}

extension CollectorTable {
  /// Repeats the jobs with the names of these operations.
  func retry(_ ids: [OperationReport.ID]) -> CommandResult {
    var names: [String] = []
    var indexes: [String: Int] = [:]
    for id in ids {
      guard let name = entries[id]?.report.name, indexes[name] == nil else { continue }
      indexes[name] = names.count
      names.append(name)
    }
    guard let answers = JobRetry.answers(for: names) else {
      return CommandResult(refusedRetryOf: ids)
    }
    let missing = JobRetry.Answer.refused(CommandResult.cannotRetry)
    var result = CommandResult(command: .retry(ids), outcomes: [])
    for id in ids {
      guard let index = entries[id].flatMap({ indexes[$0.report.name] }) else {
        result.outcomes.append(.unknown)
        continue
      }
      switch answers.indices.contains(index) ? answers[index] : missing {
      case .accepted: result.outcomes.append(.requested)
      case .refused(let reason):
        result.outcomes.append(.notRetryable)
        result.refusals[id] = reason
      }
    }
    return result
  }
}
