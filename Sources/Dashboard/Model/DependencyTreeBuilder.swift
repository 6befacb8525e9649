// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Walks a dependency graph row by row, without recursion: a chain may be of any length.
struct DependencyTreeBuilder {
  private struct Pending {
    let id: DependencyTree.RowID
    let note: DependencyTree.Note
    let depth: Int
    let isLast: Bool
    let trunks: UInt64
  }

  private let root: OperationReport.ID
  private let direction: DependencyTree.Direction
  private let operations: OperationStore
  private let unfolded: Set<DependencyTree.Group>

  private var pending: [Pending] = []
  private var seen: Set<OperationReport.ID> = []
  private var path: [OperationReport.ID] = []

  init(
    root: OperationReport.ID, direction: DependencyTree.Direction, operations: OperationStore,
    unfolded: Set<DependencyTree.Group>
  ) {
    self.root = root
    self.direction = direction
    self.operations = operations
    self.unfolded = unfolded
    pending = [Pending(id: .node(root), note: .none, depth: 0, isLast: true, trunks: 0)]
  }

  /// The next row down; `nil` behind the last.
  mutating func next() -> DependencyTree.Row? {
    guard let item = pending.popLast() else { return nil }
    guard case .node(let id) = item.id else { return row(item, id: item.id, note: item.note) }
    path.removeLast(max(0, path.count - item.depth))
    guard seen.insert(id).inserted else {
      return row(
        item, id: .reference(id, parent: path.last ?? root),
        note: path.contains(id) ? .closesCycle : .none)
    }
    path.append(id)
    pushChildren(of: id, below: item)
    return row(item, id: item.id, note: item.note)
  }

  private func row(
    _ item: Pending, id: DependencyTree.RowID, note: DependencyTree.Note
  ) -> DependencyTree.Row {
    DependencyTree.Row(
      id: id, depth: item.depth, isLast: item.isLast, trunks: item.trunks, note: note)
  }

  private mutating func pushChildren(of id: OperationReport.ID, below item: Pending) {
    guard let report = operations[id] else { return }
    // What an operation once waited for says nothing about what is to come.
    if direction == .waitsFor, report.state.isOver, item.depth > 0 { return }
    let children = children(of: report)
    // The root has no line of its own to continue.
    let trunks = item.depth == 0 ? 0 : item.trunks << 1 | (item.isLast ? 0 : 1)
    for (offset, child) in children.enumerated().reversed() {
      pending.append(
        Pending(
          id: child.0, note: child.1, depth: item.depth + 1,
          isLast: offset == children.count - 1, trunks: trunks))
    }
  }

  private func children(
    of report: OperationReport
  ) -> [(DependencyTree.RowID, DependencyTree.Note)] {
    let ids =
      direction == .waitsFor ? report.dependencies : operations.dependents(of: report.id)
    let known = ids.compactMap { operations[$0] }
    var byState: [OperationState: [OperationReport]] = [:]
    for child in known { byState[child.state, default: []].append(child) }
    var children: [(DependencyTree.RowID, DependencyTree.Note)] = []
    for state in Self.siblingOrder {
      guard let siblings = byState[state] else { continue }
      children += rows(of: siblings, state: state, parent: report.id)
    }
    if direction == .waitsFor, known.count < ids.count {
      let unmetCount = report.unmetDependencyCount - known.count { !$0.state.isOver }
      let count = ids.count - known.count
      children.append(
        (
          .unknown(parent: report.id),
          .unknown(count: count, unmetCount: min(count, max(0, unmetCount)))
        ))
    }
    return children
  }

  /// Siblings in one state: those of a class that are too many become one row, where its first
  /// member would stand.
  private func rows(
    of siblings: [OperationReport], state: OperationState, parent: OperationReport.ID
  ) -> [(DependencyTree.RowID, DependencyTree.Note)] {
    let limit =
      state.isOver && parent != root
      ? DependencyTree.overGroupLimit : DependencyTree.groupLimit
    guard siblings.count > limit else {
      return siblings.map { (.node($0.id), .none) }
    }
    let byClass = Dictionary(grouping: siblings, by: \.className)
    var grouped: Set<String> = []
    var rows: [(DependencyTree.RowID, DependencyTree.Note)] = []
    for sibling in siblings {
      let group = DependencyTree.Group(parent: parent, state: state, className: sibling.className)
      guard let like = byClass[sibling.className], like.count > limit,
        !unfolded.contains(group)
      else {
        rows.append((.node(sibling.id), .none))
        continue
      }
      guard grouped.insert(sibling.className).inserted else { continue }
      let last = like.last ?? sibling
      rows.append((.group(group), .group(count: like.count, first: sibling.id, last: last.id)))
    }
    return rows
  }

  /// What will move next first, what is over last.
  private static let siblingOrder: [OperationState] = [
    .executing, .ready, .held, .waiting, .cancelling, .finished, .cancelled,
  ]
}
