// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations of a store and the dependencies between them as arrays, so that the algorithms of a tree follow
/// a dependency without a search for its id.
///
/// A vertex is the index of an operation in ``reports``. A graph belongs to one state of the store, so vertices
/// are not kept from one update to the next.
struct OperationGraph: Sendable {
  /// The operations, in no order.
  let reports: [OperationReport]

  private let operations: OperationStore
  private let dependencies: Edges
  private let dependents: Edges

  /// The edges from all vertices in one array.
  private struct Edges {
    /// The part of ``targets`` that belongs to each vertex.
    var ranges: [Range<Int>] = []
    var targets: [Int] = []
  }

  /// Creates the graph of the operations in a store. Dependencies that are not in the store are left out.
  init(_ operations: OperationStore) {
    self.operations = operations
    let reports = operations.all
    self.reports = reports
    var dependencies = Edges()
    dependencies.ranges.reserveCapacity(reports.count)
    var counts = [Int](repeating: 0, count: reports.count)
    for vertex in reports.indices {
      let start = dependencies.targets.count
      for id in reports[vertex].dependencies {
        guard let target = operations.index(of: id) else { continue }
        dependencies.targets.append(target)
        counts[target] += 1
      }
      dependencies.ranges.append(start..<dependencies.targets.count)
    }
    self.dependencies = dependencies
    dependents = Self.reversed(dependencies, counts: counts, reports)
  }

  /// Returns the edges in the opposite direction. `counts` contains the number of edges to each vertex.
  private static func reversed(
    _ edges: Edges, counts: [Int], _ reports: [OperationReport]
  ) -> Edges {
    var reversed = Edges()
    reversed.ranges.reserveCapacity(counts.count)
    var end = 0
    for count in counts {
      reversed.ranges.append(end..<end)
      end += count
    }
    reversed.targets = [Int](repeating: 0, count: end)
    for vertex in edges.ranges.indices {
      for target in edges.targets[edges.ranges[vertex]] {
        let range = reversed.ranges[target]
        // An operation may report a dependency twice.
        if let last = range.last, reversed.targets[last] == vertex { continue }
        reversed.targets[range.upperBound] = vertex
        reversed.ranges[target] = range.lowerBound..<range.upperBound + 1
      }
    }
    for range in reversed.ranges where range.count > 1 {
      reversed.targets[range].sort { reports[$0].id < reports[$1].id }
    }
    return reversed
  }

  /// Returns the vertex of an operation; `nil` if the operation is not in the graph.
  func vertex(of id: OperationReport.ID) -> Int? { operations.index(of: id) }

  /// Returns the id of the operation of a vertex.
  func id(_ vertex: Int) -> OperationReport.ID { reports[vertex].id }

  /// Returns whether the operation of a vertex has finished or was cancelled.
  func isOver(_ vertex: Int) -> Bool { reports[vertex].state.isOver }

  /// Returns the known dependencies of an operation, or its known dependents, the oldest dependent first.
  func neighbours(of vertex: Int, _ direction: GraphDirection) -> ArraySlice<Int> {
    switch direction {
    case .waitsFor: dependencies.targets[dependencies.ranges[vertex]]
    case .blocks: dependents.targets[dependents.ranges[vertex]]
    }
  }

  /// Returns an array with a mark for each vertex.
  func marks(_ marked: some Sequence<Int> = EmptyCollection()) -> [Bool] {
    var marks = [Bool](repeating: false, count: reports.count)
    for vertex in marked { marks[vertex] = true }
    return marks
  }

  /// Returns the operations that can be reached from the roots, including the roots, the nearest first, as
  /// ``OperationStore/neighbourhood(of:_:limit:)`` does.
  func neighbourhood(
    of roots: [OperationReport.ID], _ direction: GraphDirection, limit: Int
  ) -> [Int] {
    var found = Array(roots.lazy.compactMap { vertex(of: $0) }.prefix(max(0, limit)))
    var isFound = marks(found)
    let onlyRoot = roots.count == 1 ? found.first : nil
    var next = 0
    while next < found.count, found.count < limit {
      let vertex = found[next]
      next += 1
      if direction == .waitsFor, isOver(vertex), vertex != onlyRoot { continue }
      for neighbour in neighbours(of: vertex, direction) where !isFound[neighbour] {
        if found.count == limit { return found }
        isFound[neighbour] = true
        found.append(neighbour)
      }
    }
    return found
  }
}
