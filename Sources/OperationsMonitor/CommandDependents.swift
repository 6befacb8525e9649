// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension CollectorTable {
  /// All unfinished operations that depend on any of these, directly or through others, ascending: for
  /// a command, which is carried out once and must leave none out. What is shown meanwhile is
  /// ``dependents(of:)``, which has a limit.
  func allDependents(of subjects: Set<OperationReport.ID>) -> [OperationReport.ID] {
    var seen = subjects
    var found: [OperationReport.ID] = []
    var pending = Array(subjects)
    while let id = pending.popLast() {
      for dependent in entries[id]?.dependents ?? [] where seen.insert(dependent.id).inserted {
        guard entries[dependent.id]?.report.state.isOver == false else { continue }
        found.append(dependent.id)
        pending.append(dependent.id)
      }
    }
    return found.sorted()
  }
}
