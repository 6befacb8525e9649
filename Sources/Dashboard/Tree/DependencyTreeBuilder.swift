// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Creates the rows of a tree one by one. It uses no recursion, because a chain of dependencies may be of any
/// length.
struct DependencyTreeBuilder {
  private struct Pending {
    let id: DependencyTree.RowID
    let note: DependencyTree.Note
    let depth: Int
    let isLast: Bool
    let trunks: UInt64
  }

  private let graph: ChildRows
  private let owners: [OperationReport.ID: OperationReport.ID]
  private let critical: Set<OperationReport.ID>

  private var pending: [Pending] = []
  private var seen: Set<OperationReport.ID> = []
  private var path: [OperationReport.ID] = []
  /// The depth of the rows of roots: 1 if each root is below the row of its queue; otherwise 0.
  private let rootDepth: Int

  init(
    roots: TreeRoots, folding: DependencyTree.Folding, graph: ChildRows,
    owners: [OperationReport.ID: OperationReport.ID], criticalPath: [OperationReport.ID]
  ) {
    self.graph = graph
    self.owners = owners
    critical = Set(criticalPath)
    rootDepth = roots.groups.isEmpty ? 0 : 1
    for group in roots.groups {
      let isFolded = !folding.unfoldedQueues.contains(group.queue)
      let note = DependencyTree.Note.queue(
        count: group.ids.count, isFolded: isFolded)
      pending.append(
        Pending(id: .queue(group.queue), note: note, depth: 0, isLast: true, trunks: 0))
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
          id: .node(id), note: .none, depth: rootDepth, isLast: id == ids.last, trunks: 0))
    }
  }

  /// Returns the next row; `nil` after the last one.
  mutating func next() -> DependencyTree.Row? {
    guard let item = pending.popLast() else { return nil }
    guard case .node(let id) = item.id else { return row(item, id: item.id, note: item.note) }
    path.removeLast(max(0, path.count - (item.depth - rootDepth)))
    let parent = path.last ?? id
    // `owners` contains, for each operation that is not in a cycle, the operation below which its own row is
    // drawn. An operation in a cycle has its own row at the place where it occurs first.
    let isElsewhere = item.depth > rootDepth && owners[id].map { $0 != parent } ?? false
    guard !isElsewhere, seen.insert(id).inserted else {
      return row(
        item, id: .reference(id, parent: parent),
        note: path.contains(id) ? .closesCycle : .none)
    }
    let isCritical = critical.contains(id) && (item.depth == rootDepth || critical.contains(parent))
    path.append(id)
    pushChildren(of: id, below: item)
    return row(item, id: item.id, note: item.note, isCritical: isCritical)
  }

  private func row(
    _ item: Pending, id: DependencyTree.RowID, note: DependencyTree.Note, isCritical: Bool = false
  ) -> DependencyTree.Row {
    DependencyTree.Row(
      id: id, depth: item.depth, isLast: item.isLast, trunks: item.trunks, note: note,
      isCritical: isCritical)
  }

  private mutating func pushChildren(of id: OperationReport.ID, below item: Pending) {
    var children = graph.children[id, default: []]
    // The child on the critical path comes first.
    if critical.contains(id),
      let index = children.firstIndex(where: { child in
        if case .node(let child) = child.id {
          critical.contains(child) && owners[child] == id
        } else {
          false
        }
      })
    {
      children.insert(children.remove(at: index), at: 0)
    }
    // The rows at depth 0 are drawn without tree lines, so no line continues below them.
    let trunks = item.depth == 0 ? 0 : item.trunks << 1 | (item.isLast ? 0 : 1)
    for (offset, child) in children.enumerated().reversed() {
      pending.append(
        Pending(
          id: child.id, note: child.note, depth: item.depth + 1,
          isLast: offset == children.count - 1, trunks: trunks))
    }
  }
}
