// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The part of a dependency graph that begins at one operation, as a spanning tree: every operation once,
/// with references for further paths to it.
struct DependencyTree: Sendable, Equatable {
  /// The direction of the tree.
  typealias Direction = GraphDirection

  /// Similar siblings that are drawn as one row.
  struct Group: Sendable, Hashable {
    let parent: OperationReport.ID
    let state: OperationState
    let className: String
  }

  /// Identifies a row, independently of the rows around it.
  enum RowID: Sendable, Hashable {
    /// An operation that is drawn with the rows below it.
    case node(OperationReport.ID)
    /// An operation that is drawn further up.
    case reference(OperationReport.ID, parent: OperationReport.ID)
    /// Similar siblings.
    case group(Group)
    /// A queue, above its roots.
    case queue(QueueReport.ID)
    /// Represents all rows below a folded operation.
    case folded(OperationReport.ID)
    /// Operations of which only the number is known.
    case unknown(parent: OperationReport.ID)
    /// Shows that the tree continues.
    case cut
  }

  /// One line of the drawing.
  struct Row: Sendable, Equatable {
    let id: RowID
    /// 0 for the root.
    let depth: Int
    /// Whether the row is the last of its siblings.
    let isLast: Bool
    /// One bit for each ancestor, the parent's lowest: whether the ancestor has a sibling that follows.
    let trunks: UInt64
    /// The row's contents besides its id.
    let note: Note
    /// Whether it is on the longest chain of unfinished operations from the root on.
    let isCritical: Bool
  }

  /// The contents of a row besides its id.
  enum Note: Sendable, Equatable {
    case none
    /// A reference to an ancestor of this row: the dependencies form a cycle.
    case closesCycle
    /// The number of siblings, and the first and last of them.
    case group(count: Int, first: OperationReport.ID, last: OperationReport.ID)
    /// The number of roots in the queue, the number of unfinished ones, and whether the roots are not drawn.
    case queue(count: Int, unfinishedCount: Int, isFolded: Bool)
    /// The number of operations directly below the folded one.
    case folded(count: Int)
    /// The number of operations, and how many of them are known not to have finished.
    case unknown(count: Int, unmetCount: Int)
  }

  /// If there are more similar siblings than this, they become one row.
  static let groupLimit = 8
  /// The same limit for finished operations that are not directly below the root: they block nothing.
  static let overGroupLimit = 1

  /// The rows that the user has folded and unfolded.
  struct Folding: Sendable, Equatable {
    /// Groups whose members are drawn.
    var unfolded: Set<Group> = []
    /// Operations without drawn rows below them.
    var folded: Set<OperationReport.ID> = []
    /// Queues whose roots are drawn.
    var unfoldedQueues: Set<QueueReport.ID> = []
  }

  /// The root of the tree; `nil` for the tree of all operations on which no other depends.
  let root: OperationReport.ID?
  /// The roots of the tree.
  let roots: TreeRoots
  /// The direction of the tree.
  let direction: Direction
  /// The rows from the top.
  private(set) var rows: [Row] = []
  /// The operation below which each operation is drawn.
  private(set) var owners: [OperationReport.ID: OperationReport.ID] = [:]
  /// All operations from the roots on, drawn or not.
  let scan: GraphScan

  /// The longest chain of unfinished operations from a root on, including the root.
  var criticalPath: [OperationReport.ID] { scan.criticalPath }

  /// Creates a tree of at most `rowLimit` rows. If there are more, the last row says so.
  ///
  /// `owners` contains the operation below which each operation was drawn before, and where it stays.
  init(
    root: OperationReport.ID, direction: Direction, operations: OperationStore,
    folding: Folding = Folding(), owners: [OperationReport.ID: OperationReport.ID] = [:],
    estimates: RunTimeEstimates = RunTimeEstimates(), rowLimit: Int
  ) {
    self.root = root
    self.direction = direction
    roots = TreeRoots(root)
    scan = GraphScan(
      from: roots.ids, direction, in: operations, estimates: estimates, limit: TreeState.rowLimit)
    draw(operations, folding, owners, rowLimit)
  }

  /// Creates a tree of all operations on which no other depends, and their dependencies.
  init(
    allOf operations: OperationStore, folding: Folding = Folding(),
    owners: [OperationReport.ID: OperationReport.ID] = [:],
    estimates: RunTimeEstimates = RunTimeEstimates(), rowLimit: Int
  ) {
    root = nil
    direction = .waitsFor
    roots = TreeRoots(of: operations)
    scan = GraphScan(
      from: roots.ids, direction, in: operations, estimates: estimates, limit: TreeState.rowLimit)
    draw(operations, folding, owners, rowLimit)
  }

  private mutating func draw(
    _ operations: OperationStore, _ folding: Folding,
    _ owners: [OperationReport.ID: OperationReport.ID], _ rowLimit: Int
  ) {
    guard rowLimit > 0 else { return }
    let graph = VisibleGraph(
      roots: Array(roots.drawn(folding).prefix(rowLimit)), chosen: root,
      direction: direction, operations: operations, folding: folding, criticalPath: criticalPath,
      limit: rowLimit)
    self.owners = graph.owners(keeping: owners)
    var builder = DependencyTreeBuilder(
      roots: roots, folding: folding, graph: graph, owners: self.owners,
      criticalPath: criticalPath)
    while let row = builder.next() {
      if rows.count == rowLimit {
        rows[rowLimit - 1] = Row(
          id: .cut, depth: 0, isLast: true, trunks: 0, note: .none, isCritical: false)
        return
      }
      rows.append(row)
    }
  }
}
