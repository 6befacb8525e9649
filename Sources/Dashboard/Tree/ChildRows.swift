// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The part of a dependency graph that a tree draws, as the list of the rows below each operation. An
/// operation with several parents can occur below each of these parents.
struct ChildRows {
  /// A row of the tree below the row of an operation.
  struct Child {
    let id: DependencyTree.RowID
    let note: DependencyTree.Note
    /// The operation of the row; `nil` if the row represents several operations.
    var vertex: Int?
  }

  /// For each operation, the rows below its own row, in order.
  private(set) var children: [[Child]]

  /// The number of dependencies or dependents of the drawn operations. Tests check that the number is limited.
  private(set) var stepCount = 0

  private let roots: [Int]
  private let chosen: Int?
  private let direction: GraphDirection
  private let graph: OperationGraph
  private let folding: DependencyTree.Folding
  private let focus: TreeFocus
  private let showsAttempts: Bool
  private let criticalPath: [OperationReport.ID]
  private let critical: Set<OperationReport.ID>
  /// The operations with rows below their own rows, in the order in which they were found.
  private var drawn: [Int] = []
  /// For each operation, the operations below which it has a row.
  private var parents: [[Int]]

  /// Determines the rows below the roots, for at most `limit` operations and those that lead to the selected
  /// operation.
  ///
  /// If the tree has only one root, `chosen` is this root. Directly below this root, more finished operations
  /// get rows of their own than below other operations.
  init(
    roots: [OperationReport.ID], chosen: OperationReport.ID?, direction: GraphDirection,
    graph: OperationGraph, folding: DependencyTree.Folding, focus: TreeFocus,
    criticalPath: [OperationReport.ID], showsAttempts: Bool, limit: Int
  ) {
    self.roots = roots.compactMap { graph.vertex(of: $0) }
    self.chosen = chosen.flatMap { graph.vertex(of: $0) }
    self.direction = direction
    self.graph = graph
    self.folding = folding
    self.focus = focus
    // A filter selects operations of the list, and attempts are not in the list.
    self.showsAttempts = showsAttempts && direction == .waitsFor && focus.matches == nil
    self.criticalPath = criticalPath
    critical = Set(criticalPath)
    children = Array(repeating: [], count: graph.reports.count)
    parents = Array(repeating: [], count: graph.reports.count)
    expand(limit: limit)
  }

  // MARK: Edges

  private mutating func expand(limit: Int) {
    // The limit must not leave out the operations that lead to the selected operation.
    drawn =
      roots.filter { focus.mustShow(graph.id($0)) } + roots.filter { !focus.mustShow(graph.id($0)) }
    var isDrawn = graph.marks(drawn)
    var next = 0
    while next < drawn.count {
      let vertex = drawn[next]
      next += 1
      let rows = rows(below: vertex)
      children[vertex] = rows
      for child in rows.lazy.compactMap(\.vertex) {
        parents[child].append(vertex)
        guard !isDrawn[child], drawn.count < limit || focus.mustShow(graph.id(child)) else {
          continue
        }
        isDrawn[child] = true
        drawn.append(child)
      }
    }
  }

  private mutating func rows(below vertex: Int) -> [Child] {
    // The dependencies of a finished operation no longer delay any operation, so they are not drawn.
    if direction == .waitsFor, graph.isOver(vertex), vertex != chosen { return [] }
    let neighbours = graph.neighbours(of: vertex, direction)
    stepCount += neighbours.count
    let first = neighbours.prefix(TreeState.rowLimit)
    let known =
      first.filter { focus.contains(graph.id($0)) }
      + neighbours.dropFirst(TreeState.rowLimit).filter { focus.mustShow(graph.id($0)) }
    let id = graph.id(vertex)
    let attempts = showsAttempts ? graph.reports[vertex].attempts?.attempts ?? [] : []
    if folding.folded.contains(id) {
      let count =
        focus.matches == nil && direction == .waitsFor
        ? graph.reports[vertex].dependencies.count : known.count
      return count + attempts.count == 0
        ? [] : [Child(id: .folded(id), note: .folded(count: count, attemptCount: attempts.count))]
    }
    var rows = attempts.map { Child(id: .attempt(number: $0.number, of: id), note: .none) }
    for state in Self.siblingOrder {
      let siblings = known.filter { graph.reports[$0].state == state }
      guard !siblings.isEmpty else { continue }
      rows += self.rows(of: siblings, state: state, parent: vertex)
    }
    if focus.matches == nil, let rest = unknown(below: vertex, known: known) { rows.append(rest) }
    return rows
  }

  /// Returns a row that represents the operations that the dashboard does not know; `nil` if it knows all of
  /// them.
  private func unknown(below vertex: Int, known: [Int]) -> Child? {
    let total =
      direction == .waitsFor
      ? graph.reports[vertex].dependencies.count
      : max(known.count, graph.reports[vertex].dependentCount)
    let count = total - known.count
    guard count > 0 else { return nil }
    let knownUnmet = known.count { !graph.isOver($0) }
    let unmetCount = unmetCount(of: graph.reports[vertex], known: knownUnmet).map {
      min(count, max(0, $0 - knownUnmet))
    }
    return Child(
      id: .unknown(parent: graph.id(vertex)), note: .unknown(count: count, unmetCount: unmetCount))
  }

  /// Returns how many of the operations directly below an operation are unfinished; `nil` if that is not known.
  /// `knownUnmet` is the number of those that the dashboard knows.
  private func unmetCount(of report: OperationReport, known knownUnmet: Int) -> Int? {
    guard direction == .waitsFor else { return nil }
    return switch report.state {
    case .waiting: report.unmetDependencyCount
    // The operation has become ready, usually because all dependencies have finished. Its own `isReady` can ignore
    // dependencies, and a dependency that was added later has no effect.
    case .ready, .held, .executing, .finished, .failed: knownUnmet == 0 ? 0 : nil
    // A cancelled operation does not wait for its dependencies.
    case .cancelling, .cancelled: nil
    }
  }

  /// Returns the rows for siblings in the same state. If too many siblings have the same kind, one row
  /// represents all of them. That row is at the place of the first of these siblings.
  private func rows(of siblings: [Int], state: OperationState, parent: Int) -> [Child] {
    func row(_ vertex: Int) -> Child {
      Child(id: .node(graph.id(vertex)), note: .none, vertex: vertex)
    }
    let limit =
      state.isOver && parent != chosen
      ? DependencyTree.overGroupLimit : DependencyTree.groupLimit
    guard siblings.count > limit else { return siblings.map(row) }
    let byKind = Dictionary(grouping: siblings.lazy.filter { !mustShow($0) }) {
      graph.reports[$0].kind
    }
    var grouped: Set<String> = []
    var rows: [Child] = []
    for sibling in siblings {
      let kind = graph.reports[sibling].kind
      let group = DependencyTree.Group(
        parent: graph.id(parent), state: state, kind: kind)
      guard let like = byKind[kind], like.count > limit, !folding.unfolded.contains(group),
        !mustShow(sibling)
      else {
        rows.append(row(sibling))
        continue
      }
      guard grouped.insert(kind).inserted else { continue }
      let last = like.last ?? sibling
      rows.append(
        Child(
          id: .group(group),
          note: .group(count: like.count, first: graph.id(sibling), last: graph.id(last))))
    }
    return rows
  }

  /// Returns whether an operation always has its own row: an operation on the critical path, or on the path to
  /// the selected operation.
  private func mustShow(_ vertex: Int) -> Bool {
    critical.contains(graph.id(vertex)) || focus.mustShow(graph.id(vertex))
  }

  /// The order of siblings by state: states that change soon come first, and final states come last.
  private static let siblingOrder: [OperationState] = [
    .executing, .ready, .held, .waiting, .cancelling, .failed, .finished, .cancelled,
  ]

  // MARK: Paths

  /// Returns, for each operation, the parent below which its own row is drawn; `nil` for roots and for operations
  /// in cycles. It is the parent on the longest path from the root.
  ///
  /// An operation stays below its parent in `old` if possible, because rows that move often cannot be read.
  func owners(keeping old: [OperationReport.ID: OperationReport.ID]) -> [Int?] {
    var distances = [Int](repeating: -1, count: graph.reports.count)
    var owners = [Int?](repeating: nil, count: graph.reports.count)
    for root in roots { distances[root] = 0 }
    // Operations in a cycle without a root are missing, and so are operations to which such a cycle leads.
    let sorted = TopologicalOrder.sorted(
      from: roots, drawn, below: graph.reports.count
    ) { [children] in children[$0].lazy.compactMap(\.vertex) }
    for vertex in sorted where distances[vertex] < 0 {
      let candidates = parents[vertex]
      let longest = candidates.max { left, right in
        let (leftDistance, rightDistance) = (distances[left], distances[right])
        return leftDistance == rightDistance
          ? graph.id(left) > graph.id(right) : leftDistance < rightDistance
      }
      guard let longest else { continue }
      distances[vertex] = max(0, distances[longest]) + 1
      let kept = candidates.count < 2 ? nil : old[graph.id(vertex)].flatMap { graph.vertex(of: $0) }
      owners[vertex] = kept.flatMap { candidates.contains($0) ? $0 : nil } ?? longest
    }
    // Each operation of the critical path is drawn below the previous operation of the path, so that the tree
    // shows the whole path.
    let path = criticalPath.compactMap { graph.vertex(of: $0) }
    for (parent, child) in zip(path, path.dropFirst())
    where parents[child].contains(parent) && owners[child] != nil {
      owners[child] = parent
    }
    return owners
  }
}
