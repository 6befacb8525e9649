// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Cycles in a directed graph")
struct DirectedGraphTests {
  private func graph(_ edges: [[Int]]) -> DirectedGraph {
    var graph = DirectedGraph()
    for targets in edges { graph.appendNode(edgesTo: targets) }
    return graph
  }

  @Test("DE-8: an acyclic graph has no cycle, even with several paths to a node")
  func acyclic() {
    let diamond = graph([[1, 2], [3], [3], []])
    #expect(diamond.disjointCycles().isEmpty && diamond.shortestCycle(through: 0) == nil)
    #expect(graph([]).disjointCycles().isEmpty)
  }

  @Test("DE-8: of two cycles through a node, the shorter one is found, beginning at the node")
  func shortest() {
    let eight = graph([[1, 4], [2], [3], [0], [0]])
    #expect(eight.shortestCycle(through: 0) == [0, 4])
    #expect(eight.shortestCycle(through: 2) == [2, 3, 0, 1])
    #expect(graph([[1], [2], [1]]).shortestCycle(through: 0) == nil)
  }

  @Test("DE-8: a knot that leads to another knot is found, and so is the other one")
  func knots() {
    let cycles = graph([[2, 1], [0], [3], [2]]).disjointCycles()
    #expect(Set(cycles.map(Set.init)) == [[0, 1], [2, 3]])
  }

  @Test(
    "DE-8: in any graph, cycles are real, share no node, and each knot has one", arguments: 0..<8)
  func anyGraph(nodeCount: Int) {
    var random = SeededGenerator(seed: UInt64(nodeCount))
    for _ in 0..<300 {
      let density = Int.random(in: 1...6, using: &random)
      let edges = (0..<nodeCount).map { node in
        (0..<nodeCount).filter { $0 != node && Int.random(in: 0..<10, using: &random) < density }
          .shuffled(using: &random)
      }
      check(graph(edges), edges)
    }
  }

  private func check(_ graph: DirectedGraph, _ edges: [[Int]]) {
    let distances = Self.distances(edges)
    let cycles = graph.disjointCycles()
    for cycle in cycles { #expect(Self.isCycle(cycle, edges)) }
    #expect(Set(cycles.joined()).count == cycles.joined().count)
    for node in edges.indices {
      let shortest = graph.shortestCycle(through: node)
      #expect(shortest?.count == distances[node][node])
      if let shortest { #expect(shortest[0] == node && Self.isCycle(shortest, edges)) }
      guard distances[node][node] != nil else { continue }
      let knot = Set(
        edges.indices.filter { distances[node][$0] != nil && distances[$0][node] != nil })
      #expect(cycles.contains { knot.isSuperset(of: $0) })
    }
  }

  /// Returns, for each pair of nodes, the length of the shortest path of at least one edge; `nil`
  /// if no path exists. This is the Floyd–Warshall algorithm.
  private static func distances(_ edges: [[Int]]) -> [[Int?]] {
    var distances = edges.map { targets in
      edges.indices.map { targets.contains($0) ? 1 : nil as Int? }
    }
    for middle in edges.indices {
      for from in edges.indices {
        for to in edges.indices {
          guard let first = distances[from][middle], let second = distances[middle][to] else {
            continue
          }
          distances[from][to] = min(distances[from][to] ?? .max, first + second)
        }
      }
    }
    return distances
  }

  private static func isCycle(_ nodes: [Int], _ edges: [[Int]]) -> Bool {
    guard Set(nodes).count == nodes.count, !nodes.isEmpty else { return false }
    return zip(nodes, nodes.dropFirst() + nodes.prefix(1)).allSatisfy { edges[$0].contains($1) }
  }
}
