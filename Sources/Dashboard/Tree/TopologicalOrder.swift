// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Sorts the operations of a graph so that each operation comes after all operations that lead to it. Uses
/// Kahn's algorithm.
enum TopologicalOrder {
  /// Returns the sorted vertices that can be reached from the roots. Vertices in a cycle without a root are
  /// missing, and so are vertices to which such a cycle leads.
  ///
  /// Only the vertices in `vertices` belong to the graph; their numbers are below `count`. Edges to other vertices
  /// are ignored.
  static func sorted(
    from roots: [Int], _ vertices: [Int], below count: Int,
    _ edges: (Int) -> some Sequence<Int>
  ) -> [Int] {
    // The number of edges to each vertex that were not followed yet; -1 if the vertex does not belong to the
    // graph. A root comes first even if another vertex leads to it. Such a vertex is in a cycle with the root.
    var open = [Int](repeating: -1, count: count)
    for vertex in vertices { open[vertex] = 0 }
    var ready = roots.filter { open[$0] == 0 }
    for vertex in vertices {
      for target in edges(vertex) where open[target] >= 0 { open[target] += 1 }
    }
    for root in ready { open[root] = 0 }
    var sorted: [Int] = []
    sorted.reserveCapacity(vertices.count)
    while let vertex = ready.popLast() {
      sorted.append(vertex)
      for target in edges(vertex) where open[target] > 0 {
        open[target] -= 1
        if open[target] == 0 { ready.append(target) }
      }
    }
    return sorted
  }
}
