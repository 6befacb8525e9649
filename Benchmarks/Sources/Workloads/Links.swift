// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The dependencies between numbered operations. The operations are numbered in the order in which
/// they are added.
public struct Links: Equatable, Sendable {
  /// One dependency between two operations.
  public struct Edge: Hashable, Sendable {
    /// The number of the operation that must finish first.
    public let before: Int
    /// The number of the operation that depends on the operation `before`.
    public let after: Int
  }

  /// The number of operations.
  public let count: Int
  /// The dependencies, in the order in which the workload adds them.
  public let edges: [Edge]

  /// The operations without dependencies, in ascending order.
  public var roots: [Int] {
    var waits = Array(repeating: false, count: count)
    for edge in edges { waits[edge.after] = true }
    return waits.indices.filter { !waits[$0] }
  }

  /// Returns a chain: each operation depends on the previous one.
  public static func chain(_ size: Int) -> Links {
    Links(count: size, edges: (1..<size).map { Edge(before: $0 - 1, after: $0) })
  }

  /// Returns a binary tree: each operation except the root depends on its parent.
  public static func tree(_ size: Int) -> Links {
    Links(count: size, edges: (1..<size).map { Edge(before: ($0 - 1) / 2, after: $0) })
  }

  /// Returns layers of operations. Each layer has a tenth of all operations, but at most 1,000.
  /// Each operation depends on four random operations of the previous layer. The random choice is
  /// the same in each run.
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

  /// Returns a random graph. Each operation depends on `dependencies` different operations among the 1,000
  /// operations before it, or on all of them if there are fewer. The random choice is the same in each run.
  public static func random(_ size: Int, dependencies: Int) -> Links {
    var generator = SeededGenerator(seed: UInt64(dependencies))
    var edges: [Edge] = []
    edges.reserveCapacity(dependencies * size)
    for after in 1..<max(size, 1) {
      let first = max(0, after - 1_000)
      var chosen: [Int] = []
      while chosen.count < min(dependencies, after - first) {
        let before = Int.random(in: first..<after, using: &generator)
        if !chosen.contains(before) { chosen.append(before) }
      }
      edges += chosen.map { Edge(before: $0, after: after) }
    }
    return Links(count: size, edges: edges)
  }

  /// Returns dependencies in which one additional operation, the last one, depends on all others.
  public static func fanIn(_ size: Int) -> Links {
    Links(count: size + 1, edges: (0..<size).map { Edge(before: $0, after: size) })
  }

  /// Returns dependencies in which all operations depend on one additional operation, the first
  /// one.
  public static func fanOut(_ size: Int) -> Links {
    Links(count: size + 1, edges: (1...size).map { Edge(before: 0, after: $0) })
  }
}
