// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Counts the memory that a viewer uses for the operations of one process. Without a limit, a
/// process could report new operations without end and never remove one.
package struct OperationLedger {
  /// The maximum memory for the operations of all watched processes, as ``size(of:)`` counts it:
  /// four million operations of the usual size.
  package static let mostBytes = 1 << 30

  /// The maximum memory for the operations of this process, in bytes.
  private let limit: Int
  /// The number of bytes that the operations of this process use now.
  private(set) var byteCount = 0
  private var sizes: [OperationReport.ID: Int] = [:]

  /// Creates a ledger that counts the memory for operations and has no operations yet.
  ///
  /// - Parameter limit: The maximum memory for the operations of this process, in bytes.
  init(limit: Int = OperationLedger.mostBytes) { self.limit = limit }

  /// Counts the operations that an update changes or removes. Returns `false` if the memory exceeds
  /// the limit.
  mutating func enter(_ update: Update) -> Bool {
    for report in update.changed {
      let size = Self.size(of: report)
      byteCount += size - (sizes.updateValue(size, forKey: report.id) ?? 0)
    }
    for id in update.removed { byteCount -= sizes.removeValue(forKey: id) ?? 0 }
    return byteCount <= limit
  }

  /// Returns the approximate memory of one operation in bytes. It includes the operation's report
  /// and the table entries for its dependencies.
  static func size(of report: OperationReport) -> Int {
    256 + report.name.utf8.count + report.className.utf8.count + 32 * report.dependencies.count
      + (report.errorText?.utf8.count ?? 0) + (report.givenKind?.utf8.count ?? 0)
      + (report.cancellationCause?.reason?.utf8.count ?? 0)
      + (report.statusText?.utf8.count ?? 0)
      + (report.attempts.map(size) ?? 0)
  }

  private static func size(of attempts: RetryAttempts) -> Int {
    attempts.attempts.reduce(128 + (attempts.lastFailure?.text.utf8.count ?? 0)) {
      $0 + 128 + $1.name.utf8.count + $1.kind.utf8.count
    }
  }
}
