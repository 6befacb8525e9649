// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The part of a dependency graph that a tree draws: what stands below each operation, before it is
/// decided where those stand that are below several.
struct VisibleGraph {
  /// A row below an operation.
  struct Child {
    let id: DependencyTree.RowID
    let note: DependencyTree.Note
  }

  /// The rows below each operation that is drawn, in their order.
  private(set) var children: [OperationReport.ID: [Child]] = [:]
  /// The operations that are drawn for themselves, each after all that it stands below; those in
  /// circles, and what is only below these, are missing.
  private(set) var sorted: [OperationReport.ID] = []

  private let roots: [OperationReport.ID]
  private let chosen: OperationReport.ID?
  private let direction: GraphDirection
  private let operations: OperationStore
  private let folding: DependencyTree.Folding
  private let criticalPath: [OperationReport.ID]
  private let critical: Set<OperationReport.ID>
  private var parents: [OperationReport.ID: [OperationReport.ID]] = [:]

  /// Finds what is drawn below the roots, at most so many operations.
  ///
  /// `chosen` is the root where it is the one that the tree is about: what has finished right below it
  /// is worth more rows.
  init(
    roots: [OperationReport.ID], chosen: OperationReport.ID?, direction: GraphDirection,
    operations: OperationStore, folding: DependencyTree.Folding,
    criticalPath: [OperationReport.ID], limit: Int
  ) {
    self.roots = roots
    self.chosen = chosen
    self.direction = direction
    self.operations = operations
    self.folding = folding
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

  private func rows(below id: OperationReport.ID) -> [Child] {
    guard let report = operations[id] else { return [] }
    // What an operation once waited for says nothing about what is to come.
    if direction == .waitsFor, report.state.isOver, id != chosen { return [] }
    let ids = operations.neighbours(of: report, direction)
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
    if let rest = unknown(of: report, ids: ids, known: known) { rows.append(rest) }
    return rows
  }

  /// Says how many there are of which nothing is known here.
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

  /// Siblings in one state: those of a class that are too many become one row, where its first
  /// member would stand.
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
      grouping: siblings.lazy.filter { !critical.contains($0.id) }, by: \.className)
    var grouped: Set<String> = []
    var rows: [Child] = []
    for sibling in siblings {
      let group = DependencyTree.Group(parent: parent, state: state, className: sibling.className)
      // What is on the critical path is drawn for itself.
      guard let like = byClass[sibling.className], like.count > limit,
        !folding.unfolded.contains(group), !critical.contains(sibling.id)
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

  /// What will move next first, what is over last.
  private static let siblingOrder: [OperationState] = [
    .executing, .ready, .held, .waiting, .cancelling, .finished, .cancelled,
  ]

  // MARK: Paths

  /// Below which other each operation is drawn with what is below it in turn: below the one through
  /// which its longest way from the root goes, so that the critical path is drawn in full.
  ///
  /// Where they are drawn now, in `old`, they stay as long as that is possible: rows that wander about
  /// cannot be read.
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
    // The critical path is drawn in full whatever was before.
    for (parent, child) in zip(criticalPath, criticalPath.dropFirst())
    where parents[child]?.contains(parent) == true && owners[child] != nil {
      owners[child] = parent
    }
    return owners
  }
}
