// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A store of the operations that a monitor has reported, and of their dependents.
package struct OperationStore: Sendable {
  /// An id whose text is at least as wide as the text of every id that the store has contained.
  /// This id determines the width of the id column on the screen.
  package private(set) var largestID = OperationReport.ID(0)

  /// The reports, in no order. A part of a report can be read in place, without a copy of the report.
  private var reports: [OperationReport] = []
  /// The index of each operation's report in `reports`.
  private var indexes: [OperationReport.ID: Int] = [:]
  private var dependentLists: [OperationReport.ID: Set<OperationReport.ID>] = [:]

  private let linksDependents: Bool

  /// Creates a store without operations.
  ///
  /// - Parameter linksDependents: Whether the store answers ``dependents(of:)``. The cost is
  ///   proportional to the number of dependencies.
  package init(linkingDependents linksDependents: Bool = true) {
    self.linksDependents = linksDependents
  }

  /// The number of operations in the store.
  package var count: Int { reports.count }

  /// The operations, in no order.
  package var all: [OperationReport] { reports }

  /// Returns the index of an operation in ``all``; `nil` if it is not in the store. Each change of the
  /// store may change the index.
  package func index(of id: OperationReport.ID) -> Int? { indexes[id] }

  /// The ids of the operations, in no order.
  package var ids: Dictionary<OperationReport.ID, Int>.Keys { indexes.keys }

  /// Returns an operation; `nil` if it is not in the store.
  package subscript(id: OperationReport.ID) -> OperationReport? { indexes[id].map { reports[$0] } }

  /// Returns whether an operation is in the store.
  package func contains(_ id: OperationReport.ID) -> Bool { indexes[id] != nil }

  /// Returns the state of an operation; `nil` if the operation is not in the store.
  package func state(of id: OperationReport.ID) -> OperationState? {
    indexes[id].map { reports[$0].state }
  }

  /// Returns the number of dependencies of an operation; 0 if the operation is not in the store.
  package func dependencyCount(of id: OperationReport.ID) -> Int {
    indexes[id].map { reports[$0].dependencies.count } ?? 0
  }

  /// Returns the operations in the store that depend on `id`, the oldest first. The result is empty
  /// if the store does not link dependents.
  package func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    dependentLists[id]?.sorted() ?? []
  }

  /// Adds or replaces the operations in `changed`, and removes the operations in `removed`. The
  /// cost is proportional to the number of changes.
  package mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    apply(changed: changed, limit: .max)
    remove(removed) { _ in true }
  }

  /// Adds or replaces the changed operations. If the number of operations has reached the limit, no
  /// operation is added.
  mutating func apply(changed: [OperationReport], limit: Int) {
    for report in changed {
      let index = indexes[report.id]
      guard index != nil || reports.count < limit else { continue }
      let old = index.map { reports[$0] }
      if let index {
        reports[index] = report
      } else {
        indexes[report.id] = reports.count
        reports.append(report)
      }
      if linksDependents, old?.dependencies != report.dependencies {
        if let old { unlink(old) }
        for id in report.dependencies { dependentLists[id, default: []].insert(report.id) }
      }
      largestID = largestID.widened(to: report.id)
    }
  }

  /// Removes the operations with these ids that match a condition.
  mutating func remove(
    _ ids: some Sequence<OperationReport.ID>, where isMeant: (OperationReport) -> Bool
  ) {
    for id in ids {
      guard let index = indexes[id], isMeant(reports[index]) else { continue }
      indexes[id] = nil
      // The last report takes the place of the removed report.
      let last = reports.removeLast()
      guard index < reports.count else {
        unlink(last)
        continue
      }
      unlink(reports[index])
      reports[index] = last
      indexes[last.id] = index
    }
  }

  /// Removes all operations that match a condition.
  mutating func removeAll(where isMeant: (OperationReport) -> Bool) {
    remove(Array(indexes.keys), where: isMeant)
  }

  private mutating func unlink(_ report: OperationReport) {
    guard linksDependents else { return }
    for id in report.dependencies {
      dependentLists[id]?.remove(report.id)
      if dependentLists[id]?.isEmpty == true { dependentLists[id] = nil }
    }
  }
}

extension OperationStore: Equatable {
  /// Returns whether two stores contain equal operations, and both or neither link dependents.
  package static func == (left: OperationStore, right: OperationStore) -> Bool {
    left.largestID == right.largestID && left.linksDependents == right.linksDependents
      && left.count == right.count && left.reports.allSatisfy { right[$0.id] == $0 }
  }
}
