// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that are kept, with what the views look up: their order and who depends on whom.
struct OperationStore: Sendable, Equatable {
  /// By state, then by time in it.
  private(set) var order = OperationOrder()
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

  /// One operation; `nil` where it is not kept.
  subscript(id: OperationReport.ID) -> OperationReport? { reports[id] }

  /// The kept operations that depend on `id`, in the order in which they became known.
  func dependents(of id: OperationReport.ID) -> [OperationReport.ID] {
    guard let list = dependentLists[id] else { return [] }
    return list.staleCount == 0 ? list.ids : list.ids.filter { reports[$0] != nil }
  }

  /// The kept operations that depend on any of `ids`, directly or through others, and have not
  /// finished; `ids` themselves are not among them. In ascending order.
  func unfinishedDependents(ofAll ids: [OperationReport.ID]) -> [OperationReport.ID] {
    var seen = Set(ids)
    var found: [OperationReport.ID] = []
    var pending = ids
    while let id = pending.popLast() {
      for dependent in dependents(of: id) where seen.insert(dependent).inserted {
        guard let report = reports[dependent], !report.state.isOver else { continue }
        found.append(dependent)
        pending.append(dependent)
      }
    }
    return found.sorted()
  }

  /// Takes in what has changed. Costs one pass over the order and the number of changes.
  mutating func apply(changed: [OperationReport], removed: [OperationReport.ID]) {
    if reports.isEmpty {
      reports.reserveCapacity(changed.count)
      dependentLists.reserveCapacity(changed.count)
    }
    // The key of each touched operation before this update, however often it is mentioned.
    var oldKeys: [OperationReport.ID: SortKey?] = [:]
    oldKeys.reserveCapacity(changed.count + removed.count)
    for report in changed {
      let old = reports.updateValue(report, forKey: report.id)
      if oldKeys[report.id] == nil { oldKeys[report.id] = .some(old.map(SortKey.init)) }
      if old?.dependencies != report.dependencies {
        unlink(report.id, from: old?.dependencies ?? [], exceptFrom: report.dependencies)
        link(report.id, to: report.dependencies, exceptTo: old?.dependencies ?? [])
      }
      largestID = max(largestID, report.id)
    }
    for id in removed {
      guard let old = reports.removeValue(forKey: id) else { continue }
      if oldKeys[id] == nil { oldKeys[id] = .some(SortKey(old)) }
      dependentLists[id] = nil
      for dependency in old.dependencies { countStaleDependent(of: dependency) }
    }
    order.replace(
      oldKeys.values.compactMap { $0 },
      with: oldKeys.keys.compactMap { reports[$0].map(SortKey.init) })
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
