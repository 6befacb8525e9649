// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The operations that the monitor has told of, and who of them depends on whom.
package struct OperationStore: Sendable, Equatable {
  /// No id seen is wider, for the width of its column.
  package private(set) var largestID = OperationReport.ID(0)

  private var reports: [OperationReport.ID: OperationReport] = [:]
  private var dependentLists: [OperationReport.ID: Set<OperationReport.ID>] = [:]

  private let linksDependents: Bool

  /// Creates a store without operations.
  ///
  /// - Parameter linksDependents: Whether it is asked who depends on whom. That costs as much as all
  ///   dependencies.
  package init(linkingDependents linksDependents: Bool = true) {
    self.linksDependents = linksDependents
  }

  /// How many operations are kept.
  package var count: Int { reports.count }

  /// The operations, in no order.
  package var all: Dictionary<OperationReport.ID, OperationReport>.Values { reports.values }

  /// The ids of the operations, in no order.
  package var ids: Dictionary<OperationReport.ID, OperationReport>.Keys { reports.keys }

  /// One operation; `nil` where it is not kept.
  package subscript(id: OperationReport.ID) -> OperationReport? { reports[id] }

  /// The kept operations that depend on `id`, the oldest first; none if dependents are not linked.
  package func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    dependentLists[id]?.sorted() ?? []
  }

  /// Takes in what has changed. Costs as much as that.
  package mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    apply(changed: changed, limit: .max)
    remove(removed) { _ in true }
  }

  /// Takes in what has changed, but no operation that is not kept if so many are.
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

  /// Forgets those of these operations that are meant.
  mutating func remove(
    _ ids: some Sequence<OperationReport.ID>, where isMeant: (OperationReport) -> Bool
  ) {
    for id in ids {
      guard let report = reports[id], isMeant(report) else { continue }
      reports[id] = nil
      unlink(report)
    }
  }

  /// Forgets all operations that are meant.
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
