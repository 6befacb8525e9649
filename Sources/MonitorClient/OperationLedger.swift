// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How much of a process's operations whoever watches it holds, update by update: a process could tell of
/// ever new ones, and never that one is gone.
package struct OperationLedger {
  /// The most that may be held of all that is watched, as ``size(of:)`` counts it: four million
  /// operations, as they usually are.
  package static let mostBytes = 1 << 30

  /// The most that may be held of this process.
  private let limit: Int
  /// What is held.
  private(set) var byteCount = 0
  private var sizes: [OperationReport.ID: Int] = [:]

  /// - Parameter limit: The process's share of what may be held.
  init(limit: Int = OperationLedger.mostBytes) { self.limit = limit }

  /// Enters what an update changes; returns whether it may still be held.
  mutating func enter(_ update: Update) -> Bool {
    for report in update.changed {
      let size = Self.size(of: report)
      byteCount += size - (sizes.updateValue(size, forKey: report.id) ?? 0)
    }
    for id in update.removed { byteCount -= sizes.removeValue(forKey: id) ?? 0 }
    return byteCount <= limit
  }

  /// About how many bytes one operation costs who holds it: those of its report, and those of what is
  /// looked up by what it depends on.
  static func size(of report: OperationReport) -> Int {
    256 + report.name.utf8.count + report.className.utf8.count + 32 * report.dependencies.count
  }
}
