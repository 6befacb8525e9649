// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A dependency graph from one operation on, as a spanning tree: every operation once, further
/// paths to it as references.
struct DependencyTree: Sendable, Equatable {
  /// Which way the tree grows.
  typealias Direction = GraphDirection

  /// Siblings that are alike, drawn as one row.
  struct Group: Sendable, Hashable {
    let parent: OperationReport.ID
    let state: OperationState
    let className: String
  }

  /// Identifies a row whatever becomes of the rows around it.
  enum RowID: Sendable, Hashable {
    /// An operation where it is drawn with what is below it.
    case node(OperationReport.ID)
    /// An operation that is drawn further up.
    case reference(OperationReport.ID, parent: OperationReport.ID)
    /// Siblings that are alike.
    case group(Group)
    /// A queue, above the roots that are in it.
    case queue(QueueReport.ID)
    /// Stands for all that is below an operation that is folded.
    case folded(OperationReport.ID)
    /// Operations of which nothing is known but their number.
    case unknown(parent: OperationReport.ID)
    /// Says that the tree goes on.
    case cut
  }

  /// One line of the drawing.
  struct Row: Sendable, Equatable {
    let id: RowID
    /// 0 for the root.
    let depth: Int
    /// Whether no sibling follows.
    let isLast: Bool
    /// One bit for each ancestor, the parent's lowest: whether a sibling of it follows.
    let trunks: UInt64
    /// What the row says beyond its id.
    let note: Note
    /// Whether it is on the longest chain of unfinished operations from the root on.
    let isCritical: Bool
  }

  /// What a row says beyond its id.
  enum Note: Sendable, Equatable {
    case none
    /// A reference to a row on the way to this one: the dependencies form a circle.
    case closesCycle
    /// How many siblings, and the first and last of them.
    case group(count: Int, first: OperationReport.ID, last: OperationReport.ID)
    /// How many roots are in the queue, how many of them have not finished, and whether they are not
    /// drawn.
    case queue(count: Int, unfinishedCount: Int, isFolded: Bool)
    /// How many operations are directly below the folded one.
    case folded(count: Int)
    /// How many operations, and how many of them are known not to have finished.
    case unknown(count: Int, unmetCount: Int)
  }

  /// More like siblings than this become one row.
  static let groupLimit = 8
  /// The same for what is over and does not stand right below the root: it holds nothing up.
  static let overGroupLimit = 1

  /// What the user has folded and unfolded.
  struct Folding: Sendable, Equatable {
    /// Groups whose members are drawn.
    var unfolded: Set<Group> = []
    /// Operations below which nothing is drawn.
    var folded: Set<OperationReport.ID> = []
    /// Queues whose roots are drawn.
    var unfoldedQueues: Set<QueueReport.ID> = []
  }

  /// The operation from which the tree grows; `nil` for all that no other depends on.
  let root: OperationReport.ID?
  /// The operations from which it grows.
  let roots: TreeRoots
  /// Which way it grows.
  let direction: Direction
  /// The drawing from the top.
  private(set) var rows: [Row] = []
  /// Below which other each operation is drawn.
  private(set) var owners: [OperationReport.ID: OperationReport.ID] = [:]
  /// What there is from the roots on, drawn or not.
  let scan: GraphScan

  /// The longest chain of unfinished operations from a root on, the root included.
  var criticalPath: [OperationReport.ID] { scan.criticalPath }

  /// Draws at most `rowLimit` rows; the last one says so where there would be more.
  ///
  /// `owners` says below which other each operation was drawn before, and is to stay.
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

  /// Draws all operations that no other depends on, and what they wait for, in the same way.
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
