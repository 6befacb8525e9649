// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The longest chain of unfinished operations through a dependency graph: what decides when the root
/// can be done, or what is done last because of it.
enum CriticalPath {
  /// The chain from any of the roots on, the root included; empty where it is no longer than two, which
  /// says nothing. Looks at so many operations at most, the nearest to the roots; leaves out what is in
  /// circles.
  static func find(
    from roots: [OperationReport.ID], _ direction: GraphDirection, in operations: OperationStore,
    limit: Int
  ) -> [OperationReport.ID] {
    let roots = roots.filter { operations[$0]?.state.isOver == false }
    var edges: [OperationReport.ID: [OperationReport.ID]] = [:]
    var open: [OperationReport.ID: Int] = [:]
    var found = roots
    var seen = Set(roots)
    var next = 0
    while next < found.count, next < limit {
      let id = found[next]
      next += 1
      let neighbours =
        direction == .waitsFor ? operations[id]?.dependencies ?? [] : operations.dependents(of: id)
      let unfinished = neighbours.filter { operations[$0]?.state.isOver == false }
      edges[id] = unfinished
      for neighbour in unfinished {
        open[neighbour, default: 0] += 1
        if seen.insert(neighbour).inserted { found.append(neighbour) }
      }
    }
    let path = longest(from: roots, sorted(from: roots, edges, open), edges)
    return path.count > 2 ? path : []
  }

  /// Each operation after all that lead to it.
  private static func sorted(
    from roots: [OperationReport.ID], _ edges: [OperationReport.ID: [OperationReport.ID]],
    _ open: [OperationReport.ID: Int]
  ) -> [OperationReport.ID] {
    var open = open
    // Whatever leads back to a root is in a circle with it.
    for root in roots { open[root] = nil }
    var sorted: [OperationReport.ID] = []
    var ready = roots
    while let id = ready.popLast() {
      sorted.append(id)
      for neighbour in edges[id] ?? [] {
        guard let count = open[neighbour] else { continue }
        open[neighbour] = count - 1
        if count == 1 { ready.append(neighbour) }
      }
    }
    return sorted
  }

  private static func longest(
    from roots: [OperationReport.ID], _ sorted: [OperationReport.ID],
    _ edges: [OperationReport.ID: [OperationReport.ID]]
  ) -> [OperationReport.ID] {
    var heights: [OperationReport.ID: Int] = [:]
    var next: [OperationReport.ID: OperationReport.ID] = [:]
    for id in sorted.reversed() {
      var best = 0
      for neighbour in edges[id] ?? [] {
        guard let height = heights[neighbour], height > best else { continue }
        best = height
        next[id] = neighbour
      }
      heights[id] = best + 1
    }
    let start = roots.max { heights[$0, default: 0] < heights[$1, default: 0] }
    return start.map { Array(sequence(first: $0) { next[$0] }) } ?? []
  }
}
