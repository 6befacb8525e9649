// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationStore {
  /// What an operation waits for, or what waits for it, known here or not; of very many the first, which
  /// a monitor tells of before the others.
  func neighbours(
    of report: OperationReport, _ direction: GraphDirection
  ) -> [OperationReport.ID] {
    let all = direction == .waitsFor ? report.dependencies : dependents(of: report.id)
    return all.count > TreeState.rowLimit ? Array(all.prefix(TreeState.rowLimit)) : all
  }

  /// The operations of a part of the dependency graph, the nearest first, the roots among them: the
  /// same as a monitor tells of it, and not more than `limit`.
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
      // What an operation once waited for says nothing about what is to come.
      if direction == .waitsFor, report.state.isOver, report.id != onlyRoot { continue }
      found += neighbours(of: report, direction).filter { seen.insert($0).inserted }.compactMap {
        self[$0]
      }
    }
    return Array(found.prefix(limit))
  }
}
