// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationStore {
  /// Returns the dependencies of an operation, or its dependents. The result includes dependencies
  /// that are not in the store. If there are more than `limit`, the first of them are returned.
  package func neighbours(
    of report: OperationReport, _ direction: GraphDirection, limit: Int = .max
  ) -> [OperationReport.ID] {
    let all = direction == .waitsFor ? report.dependencies : dependents(of: report.id)
    return all.count > limit ? Array(all.prefix(limit)) : all
  }

  /// Returns the operations that can be reached from the roots, including the roots, the nearest
  /// first. At most `limit` operations are returned. A monitor selects the same operations for its
  /// report.
  ///
  /// The result omits the dependencies of finished and cancelled operations, because they do not
  /// affect later operations. If there is only one root, its dependencies are always included.
  package func neighbourhood(
    of roots: [OperationReport.ID], _ direction: GraphDirection, limit: Int = .max
  ) -> [OperationReport] {
    var found: [OperationReport] = []
    for id in roots {
      guard found.count < limit else { break }
      if let report = self[id] { found.append(report) }
    }
    var seen = Set(found.lazy.map(\.id))
    let onlyRoot = roots.count == 1 ? roots.first : nil
    var next = 0
    while next < found.count, found.count < limit {
      let report = found[next]
      next += 1
      if direction == .waitsFor, report.state.isOver, report.id != onlyRoot { continue }
      for neighbour in neighbours(of: report, direction) where seen.insert(neighbour).inserted {
        guard let known = self[neighbour] else { continue }
        if found.count == limit { return found }
        found.append(known)
      }
    }
    return found
  }

  /// Returns the unfinished operations that depend on any of the subjects, directly or indirectly.
  package func dependents(of subjects: Set<OperationReport.ID>) -> Dependents {
    var seen = subjects
    var found: [OperationReport.ID] = []
    var pending = Array(subjects)
    while let id = pending.popLast() {
      for dependent in dependents(of: id) where seen.insert(dependent).inserted {
        guard state(of: dependent)?.isOver == false else { continue }
        if found.count == Dependents.limit {
          return Dependents(subjects: subjects, ids: found.sorted(), isCut: true)
        }
        found.append(dependent)
        pending.append(dependent)
      }
    }
    return Dependents(subjects: subjects, ids: found.sorted())
  }
}
