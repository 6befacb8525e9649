// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The roots of a tree: one operation, or all unfinished operations that no other unfinished operation depends
/// on.
struct TreeRoots: Sendable, Equatable {
  /// The roots that belong to one queue.
  struct QueueGroup: Sendable, Equatable {
    let queue: QueueReport.ID
    /// The ids of the roots, the oldest first.
    let ids: [OperationReport.ID]
  }

  /// The maximum number of roots that are shown without groups. If there are more, the roots are grouped by
  /// queue.
  static let groupLimit = 50

  /// The ids of all roots, the oldest first.
  let ids: [OperationReport.ID]
  /// The groups of roots by queue; empty if there are few roots.
  let groups: [QueueGroup]
  /// The number of dependencies and dependents that were followed to find the roots. Tests check that the number
  /// is limited.
  let stepCount: Int

  /// Creates the roots of a tree with a single root.
  init(_ root: OperationReport.ID) {
    ids = [root]
    groups = []
    stepCount = 0
  }

  /// Creates the roots of the tree of all unfinished operations.
  ///
  /// If dependencies form a cycle that no other operation depends on, one operation of the cycle is a root.
  /// Operations of the focus are roots too if no path to another root is known.
  init(of graph: OperationGraph, focus: TreeFocus) {
    var search = RootSearch(graph)
    search.findRoots(for: focus)
    stepCount = search.stepCount
    let found = search.vertices.lazy.map { (id: graph.id($0), vertex: $0) }
      .filter { focus.contains($0.id) }.sorted { $0.id < $1.id }
    ids = found.map(\.id)
    guard ids.count > Self.groupLimit else {
      groups = []
      return
    }
    groups = Dictionary(grouping: found) { graph.reports[$0.vertex].queue }
      .sorted { $0.key < $1.key }.map { QueueGroup(queue: $0.key, ids: $0.value.map(\.id)) }
  }

  /// Returns the roots of the tree that have their own rows, at most `limit` and those that lead to the selected
  /// operation.
  func drawn(
    _ folding: DependencyTree.Folding, leadingTo focus: TreeFocus, limit: Int
  ) -> [OperationReport.ID] {
    let all =
      groups.isEmpty
      ? ids
      : groups.filter { folding.unfoldedQueues.contains($0.queue) }.flatMap(\.ids)
    return all.prefix(limit) + all.dropFirst(limit).filter(focus.mustShow)
  }
}

/// The search for the roots of the tree of all unfinished operations.
struct RootSearch {
  /// The operation at which a walk to dependents ends.
  private struct End {
    let vertex: Int
    /// Whether the operation is in a cycle. Otherwise, its dependents are not known.
    let isInCycle: Bool
  }

  /// The vertices of the roots that the search has found.
  private(set) var vertices: [Int] = []
  /// The number of operations that walks to dependents have come to. Tests check that the number is low.
  private(set) var walkedCount = 0
  /// The number of dependencies and dependents that were followed.
  private(set) var stepCount = 0

  private let graph: OperationGraph
  private var isReached: [Bool]
  /// The ends of the walks, for all operations of the walks.
  private var ends: [Int: End] = [:]

  /// Creates a search that has found no root.
  init(_ graph: OperationGraph) {
    self.graph = graph
    isReached = graph.marks()
  }

  /// The roots that the search has found.
  var roots: [OperationReport.ID] { vertices.map { graph.id($0) } }

  /// Finds all roots.
  mutating func findRoots(for focus: TreeFocus) {
    let unfinished = graph.reports.indices.filter { !graph.isOver($0) }
    for vertex in unfinished where isRoot(vertex) { add(vertex) }
    let rest = unfinished.lazy.filter { [isReached] in !isReached[$0] }
      .map { [graph] in (id: graph.id($0), vertex: $0) }.sorted { $0.id < $1.id }
    for (id, vertex) in rest where !isReached[vertex] {
      if let top = top(of: vertex, mustBeKnown: !focus.needsRoot(id)) { add(top) }
    }
    if let vertex = focus.selected.flatMap({ graph.vertex(of: $0) }), !isReached[vertex] {
      add(vertex)
    }
  }

  /// Returns whether all dependents of an operation are known and have finished.
  private mutating func isRoot(_ vertex: Int) -> Bool {
    let dependents = graph.neighbours(of: vertex, .blocks)
    stepCount += dependents.count
    return dependents.count >= graph.reports[vertex].dependentCount
      && dependents.allSatisfy { graph.isOver($0) }
  }

  /// Returns the operation at which a walk from an operation to its dependents ends. Either the walk has come
  /// to an operation of a cycle for the second time, or the next dependents are not known. In the second
  /// case, returns `nil` if the dependents must be known.
  ///
  /// The walk also ends at an operation of an earlier walk, and has the same end as that walk.
  private mutating func top(of vertex: Int, mustBeKnown: Bool) -> Int? {
    var walked: Set<Int> = []
    var top = vertex
    var end = ends[vertex]
    while end == nil {
      guard walked.insert(top).inserted else {
        end = End(vertex: top, isInCycle: true)
        break
      }
      walkedCount += 1
      let dependents = graph.neighbours(of: top, .blocks)
      stepCount += dependents.count
      if let next = dependents.first(where: { !graph.isOver($0) }) {
        top = next
        end = ends[next]
      } else {
        end = End(vertex: top, isInCycle: false)
      }
    }
    for vertex in walked { ends[vertex] = end }
    return end.flatMap { mustBeKnown && !$0.isInCycle ? nil : $0.vertex }
  }

  /// Adds a root, and marks the root and all its dependencies as reached.
  private mutating func add(_ root: Int) {
    vertices.append(root)
    var pending = [root]
    while let vertex = pending.popLast() {
      guard !isReached[vertex] else { continue }
      isReached[vertex] = true
      guard !graph.isOver(vertex) else { continue }
      let dependencies = graph.neighbours(of: vertex, .waitsFor)
      stepCount += dependencies.count
      pending += dependencies
    }
  }
}
