// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Facts about the part of a dependency graph that can be reached from one or several roots. They include
/// operations that are not drawn.
struct GraphScan: Sendable, Equatable {
  /// The numbers of operations in each state, for each distance from the roots. The distance of an operation
  /// is the length of the longest path from a root to the operation. The roots are at distance 0. Operations
  /// in cycles are not counted.
  private(set) var levels: [StateCounts] = []
  /// Whether the graph has more operations than were examined.
  private(set) var isCut = false
  /// The longest chain of unfinished operations from a root, including the root. In a tree of dependencies,
  /// the chain determines when the root can finish. In a tree of dependents, it determines when the last
  /// dependent can finish. The chain is empty if it would have at most two operations, because such a chain
  /// contains no information. The chain is also empty if it would never end, because an operation of the graph
  /// waits for a deadlock.
  private(set) var criticalPath: [OperationReport.ID] = []
  /// The probable time that the operations of the critical path take one after the other; `nil` if the time
  /// is unknown. Without times, the critical path is the chain with the most operations.
  private(set) var remainingTime: Duration?

  /// The numbers of operations in each state, without the roots.
  var counts: StateCounts { levels.dropFirst().reduce(StateCounts(), +) }

  /// Whether the critical path is unknown, because the graph has too many dependencies to find all deadlocks.
  private(set) var isPathUnknown = false
  /// The number of dependencies and dependents that were examined. Tests check that the number is limited.
  private(set) var stepCount = 0

  /// The maximum number of dependencies that are examined to find deadlocks, for each operation of the graph.
  static let deadlockStepLimit = 50

  /// Examines the operations that are nearest to the roots, at most `limit` of them.
  init(
    from roots: [OperationReport.ID], _ direction: GraphDirection, in graph: OperationGraph,
    estimates: RunTimeEstimates = RunTimeEstimates(), limit: Int
  ) {
    let walk = Walk(roots: roots, graph: graph, direction: direction, limit: limit)
    isCut = walk.isCut
    let sorted = TopologicalOrder.sorted(
      from: walk.roots, walk.examined, below: graph.reports.count, walk.edges(of:))
    levels = walk.levels(of: sorted)
    let search = walk.findDeadlock(estimates.deadlocked, stepLimit: limit * Self.deadlockStepLimit)
    stepCount = walk.examined.reduce(search.stepCount) { $0 + walk.edges(of: $1).count }
    isPathUnknown = search.waits == nil
    guard search.waits == false else { return }
    let path = walk.longestPath(through: sorted, estimates)
    guard path.vertices.count > 2 else { return }
    criticalPath = path.vertices.map { graph.id($0) }
    remainingTime = path.time
  }
}

/// The part of a dependency graph that a scan examines.
private struct Walk {
  let graph: OperationGraph
  /// The known roots.
  let roots: [Int]
  let direction: GraphDirection
  /// The examined operations, the nearest first.
  let examined: [Int]
  /// The root whose dependencies are examined even if it has finished.
  private let onlyRoot: Int?

  init(
    roots: [OperationReport.ID], graph: OperationGraph, direction: GraphDirection, limit: Int
  ) {
    self.graph = graph
    self.roots = roots.compactMap { graph.vertex(of: $0) }
    self.direction = direction
    onlyRoot = roots.count == 1 ? self.roots.first : nil
    examined = graph.neighbourhood(of: roots, direction, limit: limit)
  }

  /// Whether the graph has more operations than were examined.
  var isCut: Bool {
    let isExamined = graph.marks(examined)
    return examined.contains { edges(of: $0).contains { !isExamined[$0] } }
  }

  /// Returns the outgoing edges of an examined operation.
  func edges(of vertex: Int) -> ArraySlice<Int> {
    // The dependencies of a finished operation no longer delay any operation, so they are not examined.
    if direction == .waitsFor, vertex != onlyRoot, graph.isOver(vertex) { return [] }
    return graph.neighbours(of: vertex, direction).prefix(TreeState.rowLimit)
  }

  /// Returns whether an unfinished operation of the graph is in a deadlock, or waits for a deadlock directly
  /// or through other operations; `nil` if the search was cut. Also returns the number of examined dependencies.
  /// A deadlock is one that a warning names, or a cycle of dependencies.
  func findDeadlock(
    _ deadlocked: DeadlockedOperations, stepLimit: Int
  ) -> (waits: Bool?, stepCount: Int) {
    var found = examined.filter { !graph.isOver($0) }
    var isFound = graph.marks(found)
    // The operations that wait for their dependencies: only those in the state waiting. A cancelled operation does
    // not wait.
    var waiting: [Int] = []
    var isAwaited = graph.marks()
    var (next, stepCount) = (0, 0)
    while next < found.count {
      let vertex = found[next]
      next += 1
      stepCount += graph.reports[vertex].dependencies.count
      guard stepCount <= stepLimit else { return (nil, stepLimit) }
      if !deadlocked.ids.isEmpty, deadlocked.holdUp(graph.reports[vertex]) {
        return (true, stepCount)
      }
      let isWaiting = graph.reports[vertex].state == .waiting
      if isWaiting { waiting.append(vertex) }
      for target in graph.neighbours(of: vertex, .waitsFor) where !graph.isOver(target) {
        if isWaiting { isAwaited[target] = true }
        guard !isFound[target] else { continue }
        isFound[target] = true
        found.append(target)
      }
    }
    let sorted = TopologicalOrder.sorted(
      from: waiting.filter { !isAwaited[$0] }, waiting, below: graph.reports.count
    ) { graph.neighbours(of: $0, .waitsFor) }
    return (sorted.count < waiting.count, stepCount)
  }

  func levels(of sorted: [Int]) -> [StateCounts] {
    var distances = [Int](repeating: 0, count: graph.reports.count)
    var levels: [StateCounts] = []
    for vertex in sorted {
      let distance = distances[vertex]
      while levels.count <= distance { levels.append(StateCounts()) }
      levels[distance].add(graph.reports[vertex].state)
      for neighbour in edges(of: vertex) {
        distances[neighbour] = max(distances[neighbour], distance + 1)
      }
    }
    return levels
  }

  func longestPath(
    through sorted: [Int], _ estimates: RunTimeEstimates
  ) -> (vertices: [Int], time: Duration?) {
    let unfinished = sorted.filter { !graph.isOver($0) }
    // If the time of an operation is unknown, paths are compared only by their numbers of operations.
    let times = estimates.remainingTimes(of: unfinished, in: graph)
    typealias Length = (time: Duration, count: Int)
    // The number of operations of a path without operations is 0.
    var lengths = [Length](repeating: (.zero, 0), count: graph.reports.count)
    var next = [Int?](repeating: nil, count: graph.reports.count)
    for (index, vertex) in zip(unfinished.indices, unfinished).reversed() {
      var best: Length = (.zero, 0)
      for neighbour in edges(of: vertex) where lengths[neighbour] > best {
        best = lengths[neighbour]
        next[vertex] = neighbour
      }
      lengths[vertex] = (best.time + (times?[index] ?? .zero), best.count + 1)
    }
    let start = roots.max { lengths[$0] < lengths[$1] }
    guard let start, lengths[start].count > 0 else { return ([], nil) }
    return (
      Array(sequence(first: start) { next[$0] }), times == nil ? nil : lengths[start].time
    )
  }
}
