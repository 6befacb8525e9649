// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension CollectorTable {
  /// Returns the operations that depend on an operation that is not in the table.
  func lateDependents(of id: OperationReport.ID) -> [OperationEntry.Dependent] {
    unknownDependencies[id] ?? []
  }

  /// Returns the operations of a part of the dependency graph, including its root. Operations near
  /// the root come first.
  ///
  /// The result omits dependencies of finished or cancelled operations, because they do not affect
  /// later operations. The dependencies of the root are always included.
  func neighbourhood(_ graph: Interest.Graph) -> [OperationReport.ID] {
    neighbourhood(of: [graph.root], graph.direction, limit: graph.limit)
  }

  /// Returns the operations of a part of the dependency graph with several roots. If there are
  /// several roots, the result omits the dependencies of finished or cancelled roots.
  func neighbourhood(
    of roots: [OperationReport.ID], _ direction: GraphDirection, limit: Int
  ) -> [OperationReport.ID] {
    var found = Array(roots.lazy.filter { self.entries[$0] != nil }.prefix(max(0, limit)))
    var seen = Set(found)
    let onlyRoot = roots.count == 1 ? roots.first : nil
    var next = 0
    while next < found.count {
      let id = found[next]
      next += 1
      guard let entry = entries[id] else { continue }
      if direction == .waitsFor, entry.report.state.isOver, id != onlyRoot { continue }
      for neighbour in neighbours(of: entry, direction)
      where entries[neighbour] != nil && seen.insert(neighbour).inserted {
        if found.count == limit { return found }
        found.append(neighbour)
      }
    }
    return found
  }

  /// Returns the unfinished operations that depend on any of the subjects, directly or indirectly.
  ///
  /// The search is repeated for each update while a viewer requests the dependents. To keep an
  /// update quick, the search also ends after it has visited a large number of finished operations.
  func dependents(of subjects: Set<OperationReport.ID>) -> Dependents {
    var seen = subjects
    var found: [OperationReport.ID] = []
    var pending = Array(subjects)
    var isCut = false
    var edgesLeft = 2 * Dependents.limit
    while !isCut, let id = pending.popLast() {
      for dependent in entries[id]?.dependents ?? [] where seen.insert(dependent.id).inserted {
        edgesLeft -= 1
        guard edgesLeft == 0 || entries[dependent.id]?.report.state.isOver == false else {
          continue
        }
        if edgesLeft == 0 || found.count == Dependents.limit {
          isCut = true
          break
        }
        found.append(dependent.id)
        pending.append(dependent.id)
      }
    }
    return Dependents(subjects: subjects, ids: found.sorted(), isCut: isCut)
  }

  private func neighbours(
    of entry: OperationEntry, _ direction: GraphDirection
  ) -> any Sequence<OperationReport.ID> {
    switch direction {
    case .waitsFor: entry.report.dependencies
    case .blocks: entry.dependents.lazy.map(\.id)
    }
  }
}
