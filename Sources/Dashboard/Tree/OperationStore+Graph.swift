// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationStore {
  /// Returns the dependencies of an operation, or its dependents. The result includes operations that the
  /// dashboard does not know. If there are more than ``TreeState/rowLimit``, the first of them are returned.
  /// A monitor reports the same ones first.
  func neighbours(
    of report: OperationReport, _ direction: GraphDirection
  ) -> [OperationReport.ID] {
    let all = direction == .waitsFor ? report.dependencies : dependents(of: report.id)
    return all.count > TreeState.rowLimit ? Array(all.prefix(TreeState.rowLimit)) : all
  }

  /// Returns the operations that can be reached from the roots, including the roots, the nearest first. At
  /// most `limit` operations are returned. A monitor selects the same operations for its report.
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
      // The dependencies of a finished operation do not affect the future, so they are left out.
      if direction == .waitsFor, report.state.isOver, report.id != onlyRoot { continue }
      found += neighbours(of: report, direction).filter { seen.insert($0).inserted }.compactMap {
        self[$0]
      }
    }
    return Array(found.prefix(limit))
  }
}
