// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Which operations wait for which; they are numbered in the order in which they are added.
public struct Links: Equatable, Sendable {
  /// One dependency.
  public struct Edge: Hashable, Sendable {
    /// What has to finish first.
    public let before: Int
    /// What depends on it.
    public let after: Int
  }

  /// How many operations there are.
  public let count: Int
  /// The dependencies, in the order in which they are to be made.
  public let edges: [Edge]

  /// The operations that depend on none, in ascending order.
  public var roots: [Int] {
    var waits = Array(repeating: false, count: count)
    for edge in edges { waits[edge.after] = true }
    return waits.indices.filter { !waits[$0] }
  }

  /// Each waits for the one before it.
  public static func chain(_ size: Int) -> Links {
    Links(count: size, edges: (1..<size).map { Edge(before: $0 - 1, after: $0) })
  }

  /// Each but the root waits for its parent in a binary tree.
  public static func tree(_ size: Int) -> Links {
    Links(count: size, edges: (1..<size).map { Edge(before: ($0 - 1) / 2, after: $0) })
  }

  /// Layers of a tenth of the operations, 1,000 at most; each operation waits for four of the layer
  /// before its own, drawn at random and the same in each run.
  public static func layers(_ size: Int) -> Links {
    var generator = SeededGenerator(seed: 4)
    let width = min(1_000, size / 10)
    var edges: [Edge] = []
    edges.reserveCapacity(4 * size)
    for after in width..<size {
      let first = (after / width - 1) * width
      var chosen: [Int] = []
      while chosen.count < min(4, width) {
        let before = Int.random(in: first..<first + width, using: &generator)
        if !chosen.contains(before) { chosen.append(before) }
      }
      edges += chosen.map { Edge(before: $0, after: after) }
    }
    return Links(count: size, edges: edges)
  }

  /// One more, the last, waits for all others.
  public static func fanIn(_ size: Int) -> Links {
    Links(count: size + 1, edges: (0..<size).map { Edge(before: $0, after: size) })
  }

  /// All wait for one more, the first.
  public static func fanOut(_ size: Int) -> Links {
    Links(count: size + 1, edges: (1...size).map { Edge(before: 0, after: $0) })
  }
}
