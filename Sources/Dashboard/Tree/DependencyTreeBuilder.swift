// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Creates the rows of a tree one by one. It uses no recursion, because a chain of dependencies may be of any
/// length.
struct DependencyTreeBuilder {
  private struct Pending {
    let id: DependencyTree.RowID
    /// The operation of the row; `nil` if the row represents several operations, or an unknown one.
    let vertex: Int?
    let note: DependencyTree.Note
    let depth: Int
    let isLast: Bool
    let trunks: UInt64
  }

  private let graph: OperationGraph
  private let children: [[ChildRows.Child]]
  private let owners: [Int?]
  private let critical: Set<OperationReport.ID>

  private var pending: [Pending] = []
  private var isDrawn: [Bool]
  private var path: [Int] = []
  /// The depth of the rows of roots: 1 if each root is below the row of its queue; otherwise 0.
  private let rootDepth: Int
  /// The focus to which all further rows must lead; `nil` if all rows are drawn.
  private var focus: TreeFocus?

  init(
    roots: TreeRoots, folding: DependencyTree.Folding, graph: OperationGraph, rows: ChildRows,
    owners: [Int?], criticalPath: [OperationReport.ID]
  ) {
    self.graph = graph
    children = rows.children
    isDrawn = graph.marks()
    self.owners = owners
    critical = Set(criticalPath)
    rootDepth = roots.groups.isEmpty ? 0 : 1
    for group in roots.groups {
      let isFolded = !folding.unfoldedQueues.contains(group.queue)
      let note = DependencyTree.Note.queue(
        count: group.ids.count, isFolded: isFolded)
      pending.append(
        Pending(
          id: .queue(group.queue), vertex: nil, note: note, depth: 0, isLast: true, trunks: 0))
      if !isFolded { appendRoots(group.ids) }
    }
    if roots.groups.isEmpty { appendRoots(roots.ids) }
    // The pending rows are in reverse order, because the next row is removed from the end of the array.
    pending.reverse()
  }

  private mutating func appendRoots(_ ids: [OperationReport.ID]) {
    for id in ids {
      pending.append(
        Pending(
          id: .node(id), vertex: graph.vertex(of: id), note: .none, depth: rootDepth,
          isLast: id == ids.last, trunks: 0))
    }
  }

  /// Whether all rows were returned.
  var isAtEnd: Bool { pending.isEmpty }

  /// Leaves out all further rows except the row of the selected operation, the rows above it, and the rows directly
  /// below it. If the selected operation already has a row, leaves out all further rows.
  mutating func skip(to focus: TreeFocus) {
    let selected = focus.selected.flatMap { graph.vertex(of: $0) }
    guard let selected, !isDrawn[selected] else {
      pending = []
      return
    }
    self.focus = focus
    pending.removeAll { !Self.isOnPath($0.id, focus) }
  }

  private static func isOnPath(_ id: DependencyTree.RowID, _ focus: TreeFocus) -> Bool {
    switch id {
    case .node(let id): focus.mustShow(id)
    case .queue: true
    case .reference, .group, .folded, .unknown, .attempt, .cut: false
    }
  }

  /// Returns the next row; `nil` after the last one.
  mutating func next() -> DependencyTree.Row? {
    guard let item = pending.popLast() else { return nil }
    guard let vertex = item.vertex, case .node(let id) = item.id else {
      return row(item, id: item.id, note: item.note)
    }
    path.removeLast(max(0, path.count - (item.depth - rootDepth)))
    let parent = path.last ?? vertex
    // `owners` contains, for each operation that is not in a cycle, the operation below which its own row is
    // drawn. An operation in a cycle has its own row at the place where it occurs first.
    let isElsewhere = item.depth > rootDepth && owners[vertex].map { $0 != parent } ?? false
    guard !isElsewhere, !isDrawn[vertex] else {
      return row(
        item, id: .reference(id, parent: graph.id(parent)),
        note: path.contains(vertex) ? .closesCycle : .none)
    }
    isDrawn[vertex] = true
    let isCritical =
      critical.contains(id)
      && (item.depth == rootDepth || critical.contains(graph.id(parent)))
    path.append(vertex)
    pushChildren(of: vertex, below: item)
    return row(item, id: item.id, note: item.note, isCritical: isCritical)
  }

  private func row(
    _ item: Pending, id: DependencyTree.RowID, note: DependencyTree.Note, isCritical: Bool = false
  ) -> DependencyTree.Row {
    DependencyTree.Row(
      id: id, depth: item.depth, isLast: item.isLast, trunks: item.trunks, note: note,
      isCritical: isCritical)
  }

  private mutating func pushChildren(of vertex: Int, below item: Pending) {
    var children = children[vertex]
    if let focus, graph.id(vertex) != focus.selected {
      children.removeAll { !Self.isOnPath($0.id, focus) }
    }
    guard !children.isEmpty else { return }
    // The child on the critical path comes first.
    if critical.contains(graph.id(vertex)),
      let index = children.firstIndex(where: { child in
        guard let child = child.vertex else { return false }
        return critical.contains(graph.id(child)) && owners[child] == vertex
      })
    {
      children.insert(children.remove(at: index), at: 0)
    }
    // The rows at depth 0 are drawn without tree lines, so no line continues below them.
    let trunks = item.depth == 0 ? 0 : item.trunks << 1 | (item.isLast ? 0 : 1)
    for (offset, child) in children.enumerated().reversed() {
      pending.append(
        Pending(
          id: child.id, vertex: child.vertex, note: child.note, depth: item.depth + 1,
          isLast: offset == children.count - 1, trunks: trunks))
    }
  }
}
