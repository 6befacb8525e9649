// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Kahn's algorithm: the operations of a graph, each after all that lead to it.
enum TopologicalOrder {
  /// What can be reached from the roots; what is in circles, and what only these lead to, is missing.
  ///
  /// An operation without an entry in `edges` is no part of the graph.
  static func sorted(
    from roots: [OperationReport.ID], _ edges: [OperationReport.ID: [OperationReport.ID]]
  ) -> [OperationReport.ID] {
    var open: [OperationReport.ID: Int] = [:]
    for targets in edges.values {
      for target in targets where edges[target] != nil { open[target, default: 0] += 1 }
    }
    // Whatever leads back to a root is in a circle with it.
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
