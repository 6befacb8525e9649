// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The part of a dependency graph that begins at one or several operations, drawn as a tree. Each operation
/// is drawn with its own row once. If several paths lead to an operation, the other paths end at a row that
/// refers to it.
struct DependencyTree: Sendable, Equatable {
  /// A group of siblings with the same state and kind, which one row represents.
  struct Group: Sendable, Hashable {
    let parent: OperationReport.ID
    let state: OperationState
    let kind: String
  }

  /// Identifies a row of the tree. The id of a row stays the same when other rows change.
  enum RowID: Sendable, Hashable {
    /// A row for an operation, with the rows of its dependencies or dependents below it.
    case node(OperationReport.ID)
    /// A reference to an operation whose own row is elsewhere in the tree.
    case reference(OperationReport.ID, parent: OperationReport.ID)
    /// A row that represents a group of similar siblings.
    case group(Group)
    /// A row for an attempt of a retry. Commands do not apply to an attempt.
    case attempt(number: Int, of: OperationReport.ID)
    /// A row for a queue, above the roots that belong to the queue.
    case queue(QueueReport.ID)
    /// A row that represents all rows below a folded operation.
    case folded(OperationReport.ID)
    /// A row for operations that the dashboard has only counted. The dashboard knows nothing else about these
    /// operations.
    case unknown(parent: OperationReport.ID)
    /// A row at the end of an incomplete tree. It shows that the tree has more rows.
    case cut
  }

  /// One row of the tree.
  struct Row: Sendable, Equatable {
    let id: RowID
    /// The distance from the root. The root has depth 0.
    let depth: Int
    /// Whether the row is the last one of its siblings.
    let isLast: Bool
    /// One bit for each ancestor, the parent in the lowest bit. A bit is set if the ancestor has a sibling
    /// below it.
    let trunks: UInt64
    /// The contents of the row in addition to its id.
    let note: Note
    /// Whether the row's operation is on the critical path: the longest chain of unfinished operations from a
    /// root.
    let isCritical: Bool
  }

  /// The contents of a row in addition to its id.
  enum Note: Sendable, Equatable {
    case none
    /// The row refers to an ancestor of the row, because the dependencies form a cycle.
    case closesCycle
    /// The row represents a group. It has the number of siblings, and the first and the last of them.
    case group(count: Int, first: OperationReport.ID, last: OperationReport.ID)
    /// The row represents a queue. It has the number of roots in the queue, and whether the rows of the roots
    /// are hidden.
    case queue(count: Int, isFolded: Bool)
    /// The row represents the rows below a folded operation. It has the number of operations directly below
    /// that operation, and the number of its attempts if it is a retry.
    case folded(count: Int, attemptCount: Int)
    /// The row represents operations that the dashboard does not know. It has the number of these operations,
    /// and how many of them are unfinished; `nil` if their states are not known.
    case unknown(count: Int, unmetCount: Int?)
  }

  /// The maximum number of similar siblings with their own rows. If there are more, one row represents them.
  static let groupLimit = 8
  /// The maximum number of similar finished siblings with their own rows, if they are not directly below the
  /// root. The number is low, because finished operations block no other operation.
  static let overGroupLimit = 1

  /// The rows that the user has folded or unfolded.
  struct Folding: Sendable, Equatable {
    /// The groups of siblings that the user has unfolded: their members have their own rows.
    var unfolded: Set<Group> = []
    /// The operations that the user has folded: the rows below these operations are hidden.
    var folded: Set<OperationReport.ID> = []
    /// The queues that the user has unfolded: the roots of the tree that belong to these queues have their
    /// own rows.
    var unfoldedQueues: Set<QueueReport.ID> = []
  }

  /// The root of the tree; `nil` for the tree of all unfinished operations.
  let root: OperationReport.ID?
  /// The roots of the tree.
  let roots: TreeRoots
  /// Whether the tree shows dependencies or dependents.
  let direction: GraphDirection
  private let showsAttempts: Bool
  /// The rows of the tree from the top.
  private(set) var rows: [Row] = []
  /// For each operation, the operation below which its own row is drawn.
  private(set) var owners: [OperationReport.ID: OperationReport.ID] = [:]
  /// Facts about all operations that can be reached from the roots, including operations that are not drawn.
  let scan: GraphScan

  /// The number of dependencies and dependents that were followed. Tests check that the number is limited.
  private(set) var stepCount = 0

  /// The longest chain of unfinished operations from a root, including the root.
  var criticalPath: [OperationReport.ID] { scan.criticalPath }

  /// Creates the tree of one operation, with at most `rowLimit` rows. If there are more rows, one row shows that
  /// the tree is incomplete. After that row, the tree has only the row of the selected operation of the focus, if it
  /// has no row above, and the rows that lead to it.
  ///
  /// At most `scanLimit` operations are examined to find the critical path. If `showsAttempts` is `true`, the
  /// attempts of a retry have rows below the retry.
  ///
  /// `owners` contains, for each operation, the operation below which it was drawn in the previous tree. Each
  /// operation is drawn at the same place again if possible.
  init(
    root: OperationReport.ID, direction: GraphDirection, graph: OperationGraph,
    folding: Folding = Folding(), owners: [OperationReport.ID: OperationReport.ID] = [:],
    estimates: RunTimeEstimates = RunTimeEstimates(), focus: TreeFocus = TreeFocus(), rowLimit: Int,
    scanLimit: Int = TreeState.rowLimit, showsAttempts: Bool = false
  ) {
    self.root = root
    self.showsAttempts = showsAttempts
    self.direction = direction
    roots = TreeRoots(root)
    scan = GraphScan(from: roots.ids, direction, in: graph, estimates: estimates, limit: scanLimit)
    draw(graph, folding, owners, focus, rowLimit)
  }

  /// Creates the tree of all unfinished operations, with their dependencies and attempts below them.
  init(
    allOf graph: OperationGraph, folding: Folding = Folding(),
    owners: [OperationReport.ID: OperationReport.ID] = [:],
    estimates: RunTimeEstimates = RunTimeEstimates(), focus: TreeFocus = TreeFocus(), rowLimit: Int
  ) {
    root = nil
    showsAttempts = true
    direction = .waitsFor
    roots = TreeRoots(of: graph, focus: focus)
    scan = GraphScan(
      from: roots.ids, direction, in: graph, estimates: estimates, limit: TreeState.rowLimit)
    draw(graph, folding, owners, focus, rowLimit)
  }

  private mutating func draw(
    _ graph: OperationGraph, _ folding: Folding,
    _ owners: [OperationReport.ID: OperationReport.ID], _ focus: TreeFocus, _ rowLimit: Int
  ) {
    stepCount = roots.stepCount + scan.stepCount
    guard rowLimit > 0 else { return }
    let children = ChildRows(
      roots: roots.drawn(folding, leadingTo: focus, limit: rowLimit), chosen: root,
      direction: direction, graph: graph, folding: folding, focus: focus,
      criticalPath: criticalPath, showsAttempts: showsAttempts, limit: rowLimit)
    stepCount += children.stepCount
    let newOwners = children.owners(keeping: owners)
    for (vertex, owner) in newOwners.enumerated() {
      if let owner { self.owners[graph.id(vertex)] = graph.id(owner) }
    }
    var builder = DependencyTreeBuilder(
      roots: roots, folding: folding, graph: graph, rows: children, owners: newOwners,
      criticalPath: criticalPath)
    while rows.count < rowLimit - 1, let row = builder.next() { rows.append(row) }
    let rest = builder
    guard let last = builder.next() else { return }
    guard !builder.isAtEnd else { return rows.append(last) }
    rows.append(
      Row(id: .cut, depth: 0, isLast: true, trunks: 0, note: .none, isCritical: false))
    builder = rest
    builder.skip(to: focus)
    while let row = builder.next() { rows.append(row) }
  }
}
