// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The numbers of unfinished and of failed operations below the operations of a tree. An operation to which
/// several paths lead is counted once.
///
/// A count of unfinished operations is a lower bound if not all operations below are examined or known.
struct DescendantCounts: Sendable, Equatable {
  /// How often an edge of the graph was followed to count the operations. Tests check that the number is low.
  private(set) var stepCount = 0
  /// How often the set of the operations below an operation was added to another set. Tests check that the number
  /// is low.
  private(set) var unionCount = 0

  private var counts: [OperationReport.ID: Int] = [:]
  /// The numbers of failed operations below the operations with such operations.
  private var failedCounts: [OperationReport.ID: Int] = [:]
  /// The operations whose counts are lower bounds.
  private var lowerBounds: Set<OperationReport.ID> = []

  /// Creates empty counts.
  init() {}

  /// Counts the operations below the roots and below all operations to which the roots lead. Examines at most
  /// `limit` operations.
  init(
    below roots: [OperationReport.ID], _ direction: GraphDirection, in graph: OperationGraph,
    limit: Int
  ) {
    let vertices = graph.neighbourhood(of: roots, direction, limit: limit).filter {
      !graph.isOver($0) || graph.reports[$0].state == .failed
    }
    var indexes = [Int?](repeating: nil, count: graph.reports.count)
    for (index, vertex) in vertices.enumerated() { indexes[vertex] = index }
    let edges = vertices.map { vertex in
      // The tree draws nothing below a finished operation.
      graph.isOver(vertex)
        ? [] : graph.neighbours(of: vertex, direction).prefix(limit).compactMap { indexes[$0] }
    }
    let gaps = vertices.map { Gap(below: $0, direction, in: graph, indexes, limit: limit) }
    let components = StrongComponents(edges)
    stepCount = components.stepCount
    // Each component has a set of its operations and of the operations below them, with one bit for each
    // operation.
    let width = (vertices.count + 63) / 64
    var failed = [UInt64](repeating: 0, count: width)
    for (index, vertex) in vertices.enumerated() where graph.isOver(vertex) {
      failed[index / 64] |= 1 << UInt64(index % 64)
    }
    var bits = [UInt64](repeating: 0, count: components.members.count * width)
    // The most operations without details below one operation of each component; `nil` if there are none, and
    // all other operations below are examined.
    var unknown = [Int?](repeating: nil, count: components.members.count)
    // The components below a component come before it, so their sets are complete.
    for (component, members) in components.members.enumerated() {
      for index in members { bits[component * width + index / 64] |= 1 << UInt64(index % 64) }
      // If the set contains an operation, it also contains all operations below that operation. The targets are
      // in the reverse order of the components, so each one comes before the operations below it.
      let targets = members.flatMap { edges[$0] }
      unknown[component] =
        (members.map { gaps[$0].unknownCount }
        + targets.map { unknown[components.component[$0]] }).compactMap { $0 }.max()
      let sorted = targets.sorted { components.component[$0] > components.component[$1] }
      stepCount += targets.count
      for target in sorted
      where bits[component * width + target / 64] >> UInt64(target % 64) & 1 == 0 {
        unionCount += 1
        let below = components.component[target] * width
        for word in 0..<width { bits[component * width + word] |= bits[below + word] }
      }
      let first = component * width
      let count = (0..<width).reduce(0) { $0 + (bits[first + $1] & ~failed[$1]).nonzeroBitCount }
      let failedCount = (0..<width).reduce(0) {
        $0 + (bits[first + $1] & failed[$1]).nonzeroBitCount
      }
      for index in members where !graph.isOver(vertices[index]) {
        let id = graph.id(vertices[index])
        // In a cycle, the operation itself is below it. The operation is not counted.
        counts[id] = count - 1 + (unknown[component] ?? 0)
        if unknown[component] != nil { lowerBounds.insert(id) }
        if failedCount > 0 { failedCounts[id] = failedCount }
      }
    }
  }

  /// The number of unfinished operations below an operation, or a lower bound of it; 0 if it is not known.
  subscript(id: OperationReport.ID) -> Int { counts[id, default: 0] }

  /// Returns the number of failed operations below an operation; 0 if it is not known.
  func failedCount(below id: OperationReport.ID) -> Int { failedCounts[id, default: 0] }

  /// Returns the number of operations below an operation in this number of cells, with a `+` if the number is a
  /// lower bound; `nil` if no operation is below.
  func text(_ id: OperationReport.ID, cells: Int) -> String? {
    if lowerBounds.contains(id) { return CountText.text(self[id], cells: cells - 1) + "+" }
    return self[id] > 0 ? CountText.text(self[id], cells: cells) : nil
  }
}

/// The operations directly below an operation that are not examined or have no details.
private struct Gap {
  /// The number of unfinished operations without details; `nil` if all operations directly below are examined.
  /// It is 0 if the number is unknown.
  let unknownCount: Int?

  /// Examines the operations directly below a vertex. `indexes` has a value for each examined vertex.
  init(
    below vertex: Int, _ direction: GraphDirection, in graph: OperationGraph, _ indexes: [Int?],
    limit: Int
  ) {
    let report = graph.reports[vertex]
    guard !graph.isOver(vertex) else {
      unknownCount = nil
      return
    }
    let known = graph.neighbours(of: vertex, direction)
    let unfinished = known.filter { !graph.isOver($0) }
    let isCut = known.count > limit || unfinished.contains { indexes[$0] == nil }
    var missingCount: Int?
    switch direction {
    case .waitsFor where known.count < report.dependencies.count:
      let unmetCount = min(report.unmetDependencyCount, report.dependencies.count)
      if unmetCount > unfinished.count { missingCount = unmetCount - unfinished.count }
    case .blocks where known.count < report.dependentCount:
      // A dependent without details may have been cancelled.
      missingCount = 0
    case .waitsFor, .blocks: break
    }
    unknownCount = missingCount ?? (isCut ? 0 : nil)
  }
}

/// The strongly connected components of a graph: each cycle is in one component, and each vertex without a
/// cycle is a component of its own. Uses Tarjan's algorithm.
private struct StrongComponents {
  /// The vertices of each component. A component comes after all components to which its edges lead.
  private(set) var members: [[Int]] = []
  /// The index of the component of each vertex.
  private(set) var component: [Int]
  /// How often an edge was followed.
  private(set) var stepCount = 0

  private let edges: [[Int]]
  /// The position of each vertex in the order of the first visits; `nil` before the first visit.
  private var order: [Int?]
  /// The lowest position that is known to be reachable from each vertex.
  private var lowest: [Int]
  /// The vertices that have been visited, and are not in a component yet.
  private var open: [Int] = []
  private var isOpen: [Bool]
  private var orderCount = 0

  init(_ edges: [[Int]]) {
    self.edges = edges
    component = Array(repeating: 0, count: edges.count)
    order = Array(repeating: nil, count: edges.count)
    lowest = Array(repeating: 0, count: edges.count)
    isOpen = Array(repeating: false, count: edges.count)
    for vertex in edges.indices where order[vertex] == nil { search(from: vertex) }
  }

  /// Finds the components of all vertices that can be reached from `start`.
  ///
  /// The search keeps its path in an array, because a graph may be too deep for recursive calls.
  private mutating func search(from start: Int) {
    var path = [(vertex: start, next: 0)]
    enter(start)
    while let (vertex, next) = path.last {
      if next < edges[vertex].count {
        path[path.count - 1].next += 1
        stepCount += 1
        let target = edges[vertex][next]
        if let position = order[target] {
          if isOpen[target] { lowest[vertex] = min(lowest[vertex], position) }
        } else {
          enter(target)
          path.append((target, 0))
        }
        continue
      }
      path.removeLast()
      if let above = path.last?.vertex { lowest[above] = min(lowest[above], lowest[vertex]) }
      if lowest[vertex] == order[vertex] { close(vertex) }
    }
  }

  private mutating func enter(_ vertex: Int) {
    order[vertex] = orderCount
    lowest[vertex] = orderCount
    orderCount += 1
    open.append(vertex)
    isOpen[vertex] = true
  }

  /// Creates the component that consists of a vertex and of all open vertices that were visited later.
  private mutating func close(_ vertex: Int) {
    let start = open.lastIndex(of: vertex) ?? open.startIndex
    let found = Array(open[start...])
    open.removeSubrange(start...)
    for member in found {
      isOpen[member] = false
      component[member] = members.count
    }
    members.append(found)
  }
}
