// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that the monitor has told of, and who of them depends on whom.
struct OperationStore: Sendable, Equatable {
  /// The largest id seen, for the width of its column.
  private(set) var largestID = OperationReport.ID(0)

  private var reports: [OperationReport.ID: OperationReport] = [:]
  private var dependentLists: [OperationReport.ID: DependentList] = [:]

  /// The operations that depend on one.
  ///
  /// Dependents that are no longer kept stay listed until they are half of the list: taking each
  /// out at once would cost the square of a large fan-out.
  private struct DependentList: Equatable {
    var ids: [OperationReport.ID] = []
    var staleCount = 0
  }

  /// How many operations are kept.
  var count: Int { reports.count }

  /// The operations, in no order.
  var all: some Collection<OperationReport> { reports.values }

  /// One operation; `nil` where it is not kept.
  subscript(id: OperationReport.ID) -> OperationReport? { reports[id] }

  /// The kept operations that depend on `id`, in the order in which they became known.
  func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    guard let list = dependentLists[id] else { return [] }
    return list.staleCount == 0 ? list.ids : list.ids.filter { reports[$0] != nil }
  }

  /// Takes in what has changed. Costs as much as that.
  mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    for report in changed {
      let old = reports.updateValue(report, forKey: report.id)
      if old?.dependencies != report.dependencies {
        unlink(report.id, from: old?.dependencies ?? [], exceptFrom: report.dependencies)
        link(report.id, to: report.dependencies, exceptTo: old?.dependencies ?? [])
      }
      largestID = max(largestID, report.id)
    }
    for id in removed {
      guard let old = reports.removeValue(forKey: id) else { continue }
      for dependency in old.dependencies { countStaleDependent(of: dependency) }
    }
  }

  private mutating func link(
    _ id: OperationReport.ID, to dependencies: [OperationReport.ID],
    exceptTo known: [OperationReport.ID]
  ) {
    // Nearly always nothing was known, or nothing was added: no set is made then.
    let known = dependencies.isEmpty || known.isEmpty ? nil : Set(known)
    for dependency in dependencies where known?.contains(dependency) != true {
      dependentLists[dependency, default: DependentList()].ids.append(id)
    }
  }

  private mutating func unlink(
    _ id: OperationReport.ID, from dependencies: [OperationReport.ID],
    exceptFrom kept: [OperationReport.ID]
  ) {
    guard !dependencies.isEmpty else { return }
    let kept = Set(kept)
    for dependency in dependencies where !kept.contains(dependency) {
      dependentLists[dependency]?.ids.removeAll { $0 == id }
    }
  }

  private mutating func countStaleDependent(of id: OperationReport.ID) {
    guard var list = dependentLists.removeValue(forKey: id) else { return }
    list.staleCount += 1
    if list.staleCount * 2 > list.ids.count {
      list.ids.removeAll { reports[$0] == nil }
      list.staleCount = 0
    }
    if !list.ids.isEmpty { dependentLists[id] = list }
  }
}
