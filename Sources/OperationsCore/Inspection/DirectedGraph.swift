// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A directed graph: nodes, numbered from 0, and edges, stored in two arrays.
///
/// The time of a search is linear in the number of nodes and edges. Searches do not use recursion.
struct DirectedGraph: Equatable, Sendable {
  /// The targets of all edges, grouped by the nodes from which the edges lead.
  private var targets: [Int] = []
  /// The indices in `targets` at which the edges of each node end.
  private var ends: [Int] = []

  var nodeCount: Int { ends.count }

  /// Adds the next node and its edges. The edges may lead to nodes that are added later.
  mutating func appendNode(edgesTo nodes: some Sequence<Int>) {
    targets.append(contentsOf: nodes)
    ends.append(targets.count)
  }

  private func edges(of node: Int) -> Range<Int> { (node == 0 ? 0 : ends[node - 1])..<ends[node] }

  // MARK: Cycles

  /// Returns a shortest cycle through `start`, beginning with `start`; `nil` if no cycle contains
  /// `start`.
  func shortestCycle(through start: Int) -> [Int]? {
    var predecessors = [Int?](repeating: nil, count: nodeCount)
    var reached = [start]
    var next = 0
    while next < reached.count {
      let node = reached[next]
      next += 1
      for target in targets[edges(of: node)] {
        if target == start { return path(to: node, predecessors) }
        if predecessors[target] == nil {
          predecessors[target] = node
          reached.append(target)
        }
      }
    }
    return nil
  }

  private func path(to end: Int, _ predecessors: [Int?]) -> [Int] {
    var backwards = [end]
    var current = end
    while let predecessor = predecessors[current] {
      backwards.append(predecessor)
      current = predecessor
    }
    return backwards.reversed()
  }

  /// One node of the current path in the search for cycles.
  private struct Step {
    let node: Int
    /// The index in `targets` of the next edge to follow from this node.
    var nextEdge: Int
    /// The index on the path of the last node, up to this node, that is in a known cycle; −1 if the
    /// path has no such node.
    var lastTaken: Int
  }

  /// Returns cycles that have no common node. The result contains at least one cycle from each set
  /// of nodes that can all reach each other.
  ///
  /// Not all cycles are returned, because their number can be exponential.
  func disjointCycles() -> [[Int]] {
    let unseen = -1
    let done = -2
    var cycles: [[Int]] = []
    var placeOnPath = [Int](repeating: unseen, count: nodeCount)
    var path: [Step] = []
    for root in 0..<nodeCount where placeOnPath[root] == unseen {
      placeOnPath[root] = 0
      path.append(Step(node: root, nextEdge: edges(of: root).lowerBound, lastTaken: -1))
      while let step = path.last {
        guard step.nextEdge < edges(of: step.node).upperBound else {
          placeOnPath[step.node] = done
          path.removeLast()
          continue
        }
        path[path.count - 1].nextEdge += 1
        let target = targets[step.nextEdge]
        let place = placeOnPath[target]
        if place == unseen {
          placeOnPath[target] = path.count
          path.append(
            Step(node: target, nextEdge: edges(of: target).lowerBound, lastTaken: step.lastTaken))
        } else if place > step.lastTaken {
          // The path from the index `place` to its end is a cycle, and none of its nodes is in
          // another returned cycle. Each node is copied once, so the total cost of copying is
          // linear.
          cycles.append(path[place...].map(\.node))
          for taken in place..<path.count { path[taken].lastTaken = taken }
        }
      }
    }
    return cycles
  }
}

// MARK: - Knots

extension DirectedGraph {
  /// Returns the terminal knots: the sets of nodes that can all reach each other but no other node.
  /// Sets without edges are left out.
  ///
  /// This is Tarjan's algorithm with an explicit path instead of recursion. It takes linear time.
  func terminalKnots() -> [[Int]] {
    var search = KnotSearch(nodeCount: nodeCount)
    for root in 0..<nodeCount { search.visit(root, in: self) }
    return search.knots
  }

  /// The state of a depth-first search for knots, the largest sets of nodes that can all reach each
  /// other.
  private struct KnotSearch {
    private struct Step {
      let node: Int
      var nextEdge: Int
    }

    private(set) var knots: [[Int]] = []
    /// For each node, its position in the order in which nodes were reached; `nil` if the node was
    /// not reached.
    private var order: [Int?]
    /// For each node, the position of the earliest node that it can reach, as far as the search
    /// knows.
    private var lowest: [Int]
    /// For each node, whether the search has found all nodes that can reach it and that it can
    /// reach.
    private var isSettled: [Bool]
    /// For each node, whether it has an edge to a node that cannot reach it.
    private var leadsAway: [Bool]
    private var unsettled: [Int] = []
    private var path: [Step] = []
    private var metCount = 0

    init(nodeCount: Int) {
      order = Array(repeating: nil, count: nodeCount)
      lowest = Array(repeating: 0, count: nodeCount)
      isSettled = Array(repeating: false, count: nodeCount)
      leadsAway = isSettled
    }

    mutating func visit(_ root: Int, in graph: DirectedGraph) {
      if order[root] == nil { meet(root, in: graph) }
      while let step = path.last {
        let node = step.node
        guard step.nextEdge < graph.edges(of: node).upperBound else {
          path.removeLast()
          leave(node, in: graph)
          continue
        }
        path[path.count - 1].nextEdge += 1
        let target = graph.targets[step.nextEdge]
        if let place = order[target] {
          if isSettled[target] {
            leadsAway[node] = true
          } else {
            lowest[node] = min(lowest[node], place)
          }
        } else {
          meet(target, in: graph)
        }
      }
    }

    private mutating func meet(_ node: Int, in graph: DirectedGraph) {
      order[node] = metCount
      lowest[node] = metCount
      metCount += 1
      unsettled.append(node)
      path.append(Step(node: node, nextEdge: graph.edges(of: node).lowerBound))
    }

    private mutating func leave(_ node: Int, in graph: DirectedGraph) {
      if lowest[node] == order[node] { settle(from: node, in: graph) }
      guard let parent = path.last?.node else { return }
      lowest[parent] = min(lowest[parent], lowest[node])
      if isSettled[node] { leadsAway[parent] = true }
    }

    /// Completes the knot of `node`: the set of all nodes that the search has reached since `node`,
    /// and that are in no knot yet.
    private mutating func settle(from node: Int, in graph: DirectedGraph) {
      var knot: [Int] = []
      var isTerminal = true
      while let member = unsettled.popLast() {
        isSettled[member] = true
        knot.append(member)
        if leadsAway[member] { isTerminal = false }
        if member == node { break }
      }
      if isTerminal, !graph.edges(of: node).isEmpty { knots.append(knot) }
    }
  }
}
