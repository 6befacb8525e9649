// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that the monitor has told of, and who of them depends on whom.
struct OperationStore: Sendable, Equatable {
  /// No id seen is wider, for the width of its column.
  private(set) var largestID = OperationReport.ID(0)

  private var reports: [OperationReport.ID: OperationReport] = [:]
  private var dependentLists: [OperationReport.ID: Set<OperationReport.ID>] = [:]

  /// How many operations are kept.
  var count: Int { reports.count }

  /// The operations, in no order.
  var all: some Collection<OperationReport> { reports.values }

  /// One operation; `nil` where it is not kept.
  subscript(id: OperationReport.ID) -> OperationReport? { reports[id] }

  /// The kept operations that depend on `id`, the oldest first.
  func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    dependentLists[id]?.sorted() ?? []
  }

  /// Takes in what has changed. Costs as much as that.
  mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    for report in changed {
      let old = reports.updateValue(report, forKey: report.id)
      if old?.dependencies != report.dependencies {
        if let old { unlink(old) }
        for id in report.dependencies { dependentLists[id, default: []].insert(report.id) }
      }
      largestID = largestID.widened(to: report.id)
    }
    for id in removed {
      if let old = reports.removeValue(forKey: id) { unlink(old) }
    }
  }

  private mutating func unlink(_ report: OperationReport) {
    for id in report.dependencies {
      dependentLists[id]?.remove(report.id)
      if dependentLists[id]?.isEmpty == true { dependentLists[id] = nil }
    }
  }
}
