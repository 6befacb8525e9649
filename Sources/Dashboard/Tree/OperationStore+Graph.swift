// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationStore {
  /// Returns the dependencies of an operation, or its dependents, whether they are known here or not. If
  /// there are very many, it returns the first ones, which a monitor reports before the others.
  func neighbours(
    of report: OperationReport, _ direction: GraphDirection
  ) -> [OperationReport.ID] {
    let all = direction == .waitsFor ? report.dependencies : dependents(of: report.id)
    return all.count > TreeState.rowLimit ? Array(all.prefix(TreeState.rowLimit)) : all
  }

  /// Returns the operations of a part of the dependency graph, the nearest first, including the roots. They
  /// are the same as those that a monitor reports, and at most `limit`.
  func neighbourhood(
    of roots: [OperationReport.ID], _ direction: GraphDirection, limit: Int
  ) -> [OperationReport] {
    var found = roots.compactMap { self[$0] }
    var seen = Set(roots)
    let onlyRoot = roots.count == 1 ? roots.first : nil
    var next = 0
    while next < found.count, found.count < limit {
      let report = found[next]
      next += 1
      // The dependencies of a finished operation have no effect on the future.
      if direction == .waitsFor, report.state.isOver, report.id != onlyRoot { continue }
      found += neighbours(of: report, direction).filter { seen.insert($0).inserted }.compactMap {
        self[$0]
      }
    }
    return Array(found.prefix(limit))
  }
}
