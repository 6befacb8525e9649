// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Kahn's algorithm: sorts the operations of a graph, each after all operations that lead to it.
enum TopologicalOrder {
  /// Returns the operations that can be reached from the roots. Operations in cycles, and operations to which
  /// only these lead, are missing.
  ///
  /// An operation without an entry in `edges` does not belong to the graph.
  static func sorted(
    from roots: [OperationReport.ID], _ edges: [OperationReport.ID: [OperationReport.ID]]
  ) -> [OperationReport.ID] {
    var open: [OperationReport.ID: Int] = [:]
    for targets in edges.values {
      for target in targets where edges[target] != nil { open[target, default: 0] += 1 }
    }
    // An operation that leads back to a root is in a cycle with it.
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
