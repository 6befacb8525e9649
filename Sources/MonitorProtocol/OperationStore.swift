// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The operations that a monitor has reported, and their dependents.
package struct OperationStore: Sendable, Equatable {
  /// The id with the most digits of all ids so far, which sets the width of the id column.
  package private(set) var largestID = OperationReport.ID(0)

  private var reports: [OperationReport.ID: OperationReport] = [:]
  private var dependentLists: [OperationReport.ID: Set<OperationReport.ID>] = [:]

  private let linksDependents: Bool

  /// Creates a store without operations.
  ///
  /// - Parameter linksDependents: Whether the store answers ``dependents(of:)``. The cost is
  ///   proportional to the number of dependencies.
  package init(linkingDependents linksDependents: Bool = true) {
    self.linksDependents = linksDependents
  }

  /// The number of kept operations.
  package var count: Int { reports.count }

  /// The operations, in no order.
  package var all: Dictionary<OperationReport.ID, OperationReport>.Values { reports.values }

  /// The ids of the operations, in no order.
  package var ids: Dictionary<OperationReport.ID, OperationReport>.Keys { reports.keys }

  /// Returns an operation; `nil` if it is not kept.
  package subscript(id: OperationReport.ID) -> OperationReport? { reports[id] }

  /// Returns the kept operations that depend on `id`, the oldest first; none if dependents are not
  /// linked.
  package func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    dependentLists[id]?.sorted() ?? []
  }

  /// Applies changes. The cost is proportional to their number.
  package mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    apply(changed: changed, limit: .max)
    remove(removed) { _ in true }
  }

  /// Applies changes, but adds no further operation when the limit is reached.
  mutating func apply(changed: [OperationReport], limit: Int) {
    for report in changed where reports.count < limit || reports[report.id] != nil {
      let old = reports.updateValue(report, forKey: report.id)
      if linksDependents, old?.dependencies != report.dependencies {
        if let old { unlink(old) }
        for id in report.dependencies { dependentLists[id, default: []].insert(report.id) }
      }
      largestID = largestID.widened(to: report.id)
    }
  }

  /// Removes those of the given operations that match a condition.
  mutating func remove(
    _ ids: some Sequence<OperationReport.ID>, where isMeant: (OperationReport) -> Bool
  ) {
    for id in ids {
      guard let report = reports[id], isMeant(report) else { continue }
      reports[id] = nil
      unlink(report)
    }
  }

  /// Removes all operations that match a condition.
  mutating func removeAll(where isMeant: (OperationReport) -> Bool) {
    remove(Array(reports.keys), where: isMeant)
  }

  private mutating func unlink(_ report: OperationReport) {
    guard linksDependents else { return }
    for id in report.dependencies {
      dependentLists[id]?.remove(report.id)
      if dependentLists[id]?.isEmpty == true { dependentLists[id] = nil }
    }
  }
}
