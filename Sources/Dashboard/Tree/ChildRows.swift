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
  }

  /// For each drawn operation, the rows below its own row, in order.
  private(set) var children: [OperationReport.ID: [Child]] = [:]
  /// The operations with their own row, sorted so that each one comes after all operations above it.
  /// Operations in a cycle without a root are missing, and so are operations to which such a cycle leads.
  private(set) var sorted: [OperationReport.ID] = []

  /// The number of dependencies or dependents of the drawn operations. Tests check that the number is limited.
  private(set) var stepCount = 0

  private let roots: [OperationReport.ID]
  private let chosen: OperationReport.ID?
  private let direction: GraphDirection
  private let operations: OperationStore
  private let folding: DependencyTree.Folding
  private let focus: TreeFocus
  private let criticalPath: [OperationReport.ID]
  private let critical: Set<OperationReport.ID>
  private var parents: [OperationReport.ID: [OperationReport.ID]] = [:]

  /// Determines the rows below the roots, for at most `limit` operations.
  ///
  /// If the tree has only one root, `chosen` is this root. Directly below this root, more finished operations
  /// get rows of their own than below other operations.
  init(
    roots: [OperationReport.ID], chosen: OperationReport.ID?, direction: GraphDirection,
    operations: OperationStore, folding: DependencyTree.Folding, focus: TreeFocus,
    criticalPath: [OperationReport.ID], limit: Int
  ) {
    self.roots = roots
    self.chosen = chosen
    self.direction = direction
    self.operations = operations
    self.folding = folding
    self.focus = focus
    self.criticalPath = criticalPath
    critical = Set(criticalPath)
    expand(limit: limit)
    sorted = TopologicalOrder.sorted(
      from: roots,
      children.mapValues { rows in
        rows.compactMap { if case .node(let id) = $0.id { id } else { nil } }
      })
  }

  // MARK: Edges

  private mutating func expand(limit: Int) {
    var found = roots
    var seen = Set(roots)
    var next = 0
    while next < found.count {
      let id = found[next]
      next += 1
      let rows = rows(below: id)
      children[id] = rows
      for case .node(let child) in rows.lazy.map(\.id) {
        parents[child, default: []].append(id)
        if found.count < limit, seen.insert(child).inserted { found.append(child) }
      }
    }
  }

  private mutating func rows(below id: OperationReport.ID) -> [Child] {
    guard let report = operations[id] else { return [] }
    // The dependencies of a finished operation no longer delay any operation, so they are not drawn.
    if direction == .waitsFor, report.state.isOver, id != chosen { return [] }
    let neighbours = operations.neighbours(of: report, direction, limit: TreeState.rowLimit)
    stepCount += neighbours.count
    let ids = neighbours.filter(focus.contains)
    if folding.folded.contains(id) {
      return ids.isEmpty ? [] : [Child(id: .folded(id), note: .folded(count: ids.count))]
    }
    let known = ids.compactMap { operations[$0] }
    var byState: [OperationState: [OperationReport]] = [:]
    for child in known { byState[child.state, default: []].append(child) }
    var rows: [Child] = []
    for state in Self.siblingOrder {
      guard let siblings = byState[state] else { continue }
      rows += self.rows(of: siblings, state: state, parent: id)
    }
    if focus.matches == nil, let rest = unknown(of: report, ids: ids, known: known) {
      rows.append(rest)
    }
    return rows
  }

  /// Returns a row that represents the operations that the dashboard does not know; `nil` if it knows all of
  /// them.
  private func unknown(
    of report: OperationReport, ids: [OperationReport.ID], known: [OperationReport]
  ) -> Child? {
    let total =
      direction == .waitsFor
      ? report.dependencies.count : max(ids.count, report.dependentCount)
    let count = total - known.count
    guard count > 0 else { return nil }
    let knownUnmet = known.count { !$0.state.isOver }
    let unmet = direction == .waitsFor ? report.unmetDependencyCount - knownUnmet : 0
    return Child(
      id: .unknown(parent: report.id),
      note: .unknown(count: count, unmetCount: min(count, max(0, unmet))))
  }

  /// Returns the rows for siblings in the same state. If too many siblings have the same class, one row
  /// represents all of them. That row is at the place of the first of these siblings.
  private func rows(
    of siblings: [OperationReport], state: OperationState, parent: OperationReport.ID
  ) -> [Child] {
    let limit =
      state.isOver && parent != chosen
      ? DependencyTree.overGroupLimit : DependencyTree.groupLimit
    guard siblings.count > limit else {
      return siblings.map { Child(id: .node($0.id), note: .none) }
    }
    let byClass = Dictionary(
      grouping: siblings.lazy.filter { !mustShow($0) }, by: \.className)
    var grouped: Set<String> = []
    var rows: [Child] = []
    for sibling in siblings {
      let group = DependencyTree.Group(parent: parent, state: state, className: sibling.className)
      guard let like = byClass[sibling.className], like.count > limit,
        !folding.unfolded.contains(group), !mustShow(sibling)
      else {
        rows.append(Child(id: .node(sibling.id), note: .none))
        continue
      }
      guard grouped.insert(sibling.className).inserted else { continue }
      let last = like.last ?? sibling
      rows.append(
        Child(
          id: .group(group), note: .group(count: like.count, first: sibling.id, last: last.id)))
    }
    return rows
  }

  /// Returns whether an operation always has its own row: an operation on the critical path, or on the path to
  /// the selected operation.
  private func mustShow(_ report: OperationReport) -> Bool {
    critical.contains(report.id) || focus.mustShow(report.id)
  }

  /// The order of siblings by state: states that change soon come first, and final states come last.
  private static let siblingOrder: [OperationState] = [
    .executing, .ready, .held, .waiting, .cancelling, .failed, .finished, .cancelled,
  ]

  // MARK: Paths

  /// Returns, for each operation, the parent below which its own row is drawn. It is the parent on the
  /// longest path from the root.
  ///
  /// An operation stays below its parent in `old` if possible, because rows that move often cannot be read.
  func owners(keeping old: [OperationReport.ID: OperationReport.ID])
    -> [OperationReport.ID: OperationReport.ID]
  {
    var distances: [OperationReport.ID: Int] = [:]
    var owners: [OperationReport.ID: OperationReport.ID] = [:]
    for root in roots { distances[root] = 0 }
    for id in sorted where distances[id] == nil {
      let candidates = parents[id, default: []]
      let longest = candidates.max { left, right in
        let (leftDistance, rightDistance) = (distances[left] ?? -1, distances[right] ?? -1)
        return leftDistance == rightDistance ? left > right : leftDistance < rightDistance
      }
      guard let longest else { continue }
      distances[id] = (distances[longest] ?? 0) + 1
      owners[id] = old[id].flatMap { candidates.contains($0) ? $0 : nil } ?? longest
    }
    // Each operation of the critical path is drawn below the previous operation of the path, so that the tree
    // shows the whole path.
    for (parent, child) in zip(criticalPath, criticalPath.dropFirst())
    where parents[child]?.contains(parent) == true && owners[child] != nil {
      owners[child] = parent
    }
    return owners
  }
}
