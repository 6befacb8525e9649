// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Sorts the operations of a graph so that each operation comes after all operations that lead to it. Uses
/// Kahn's algorithm.
enum TopologicalOrder {
  /// Returns the sorted operations that can be reached from the roots. Operations in a cycle without a root
  /// are missing, and so are operations to which such a cycle leads.
  ///
  /// An operation without an entry in `edges` does not belong to the graph.
  static func sorted(
    from roots: [OperationReport.ID], _ edges: [OperationReport.ID: [OperationReport.ID]]
  ) -> [OperationReport.ID] {
    var open: [OperationReport.ID: Int] = [:]
    for targets in edges.values {
      for target in targets where edges[target] != nil { open[target, default: 0] += 1 }
    }
    // A root comes first even if another operation leads to it. Such an operation is in a cycle with the root.
    for root in roots { open[root] = nil }
    var sorted: [OperationReport.ID] = []
    var ready = roots.filter { edges[$0] != nil }
    while let id = ready.popLast() {
      sorted.append(id)
      for target in edges[id] ?? [] {
        guard let count = open[target] else { continue }
        open[target] = count - 1
        if count == 1 { ready.append(target) }
      }
    }
    return sorted
  }
}
