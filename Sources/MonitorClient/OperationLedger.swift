// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Counts the memory for the operations of a process that a viewer keeps. A process could otherwise
/// report new operations without end and never remove one.
package struct OperationLedger {
  /// The maximum memory for the operations of all watched processes, as ``size(of:)`` counts it:
  /// four million operations of the usual size.
  package static let mostBytes = 1 << 30

  /// The limit for this process.
  private let limit: Int
  /// The current number of bytes.
  private(set) var byteCount = 0
  private var sizes: [OperationReport.ID: Int] = [:]

  /// - Parameter limit: The process's share of the memory.
  init(limit: Int = OperationLedger.mostBytes) { self.limit = limit }

  /// Adds the changes of an update. Returns `false` if the limit is exceeded.
  mutating func enter(_ update: Update) -> Bool {
    for report in update.changed {
      let size = Self.size(of: report)
      byteCount += size - (sizes.updateValue(size, forKey: report.id) ?? 0)
    }
    for id in update.removed { byteCount -= sizes.removeValue(forKey: id) ?? 0 }
    return byteCount <= limit
  }

  /// Returns the approximate memory of one operation in bytes: its report, and the table entries
  /// for its dependencies.
  static func size(of report: OperationReport) -> Int {
    256 + report.name.utf8.count + report.className.utf8.count + 32 * report.dependencies.count
  }
}
