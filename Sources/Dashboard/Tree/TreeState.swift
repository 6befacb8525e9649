// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the tree view: its rows and its cursor.
struct TreeState: Sendable, Equatable {
  /// The maximum number of rows of a tree. A larger tree is cut.
  static let rowLimit = 2_000

  /// Whether the tree shows dependencies or dependents.
  var direction: GraphDirection
  /// The id of the cursor's row, which keys act on.
  private(set) var cursor: DependencyTree.RowID
  /// The index of the first row on screen.
  private(set) var top = 0
  /// The tree that the last call of ``settle(with:height:)`` created.
  private(set) var tree: DependencyTree
  /// The numbers of unfinished operations below the operations of the tree.
  private(set) var below = DescendantCounts()
  /// The operations on which the rows of the tree depend.
  private(set) var focus = TreeFocus()

  /// The operation that was selected when the tree was opened; `nil` if none was selected, or if the tree has
  /// a single root.
  let opened: OperationReport.ID?

  private var folding = DependencyTree.Folding()
  private var cursorIndex = 0
  private var filter: OperationFilter?
  /// Whether no key has moved the cursor or folded a row. Until then, the tree is unfolded to the operation
  /// that was selected when the tree was opened. Without such an operation, the cursor stays at the first row.
  private var isUntouched = true

  /// The data from which the rows of a tree are created.
  struct Contents {
    let operations: OperationStore
    var estimates = RunTimeEstimates()
    /// The filter of the list; `nil` if there is none.
    var filter: OperationFilter?
    /// The operations that match the filter; `nil` if there is no filter.
    var matches: Set<OperationReport.ID>?
  }

  /// Creates the state for the tree of one operation.
  init(
    root: OperationReport.ID, direction: GraphDirection, operations: OperationStore
  ) {
    self.direction = direction
    opened = nil
    isUntouched = false
    cursor = .node(root)
    tree = DependencyTree(
      root: root, direction: direction, operations: operations, rowLimit: Self.rowLimit)
  }

  /// Creates the state for the tree of all unfinished operations, with the cursor at the row of an operation.
  /// If this operation is `nil` or has finished, the cursor is at the first row.
  init(allOf operations: OperationStore, opened: OperationReport.ID? = nil) {
    direction = .waitsFor
    self.opened = opened.flatMap { operations[$0]?.state.isOver == false ? $0 : nil }
    tree = DependencyTree(allOf: operations, rowLimit: Self.rowLimit)
    cursor = self.opened.map { .node($0) } ?? tree.rows.first?.id ?? .cut
  }

  /// The operation of the cursor's row. If the row represents several operations, it is their parent. If the
  /// row represents a queue, it is `nil`.
  var selected: OperationReport.ID? {
    switch cursor {
    case .node(let id), .reference(let id, _), .folded(let id), .unknown(let id): id
    case .group(let group): group.parent
    case .queue: nil
    case .cut: tree.root
    }
  }

  /// The operation of the cursor's row; `nil` if the row represents several operations or a queue.
  var selectedOperation: OperationReport.ID? {
    switch cursor {
    case .node(let id), .reference(let id, _): id
    case .folded, .unknown, .group, .queue, .cut: nil
    }
  }

  /// The queue of the cursor's row; `nil` if the row does not represent a queue.
  var selectedQueue: QueueReport.ID? { if case .queue(let id) = cursor { id } else { nil } }

  /// Creates the rows again, and finds the cursor's row. If that row no longer exists, its neighbour is
  /// selected.
  mutating func settle(with contents: Contents, height: Int) {
    // A new filter may hide the cursor's row, but the row stays if its operation no longer matches later.
    let isNewFilter = contents.filter != filter
    filter = contents.filter
    if isNewFilter { isUntouched = false }
    draw(
      contents, owners: tree.direction == direction ? tree.owners : [:],
      selected: isNewFilter ? nil : selectedOperation)
    unfoldQueueOfOpened(contents)
    if isUntouched, opened == nil { return place(0, height: height) }
    let index = tree.rows.firstIndex { $0.id == cursor }
    place(index ?? (isNewFilter ? firstMatch : cursorIndex), height: height)
  }

  /// The index of the first row whose operation matches the filter; 0 if there is no such row.
  private var firstMatch: Int {
    tree.rows.firstIndex { row in
      if case .node(let id) = row.id { focus.isMatch(id) } else { false }
    } ?? 0
  }

  /// Moves the cursor by `offset` rows.
  mutating func move(by offset: Int, height: Int) {
    isUntouched = false
    place(cursorIndex + offset, height: height)
  }

  /// Moves the cursor to the first row.
  mutating func moveToTop(height: Int) { move(by: -cursorIndex, height: height) }

  /// Moves the cursor to the last row.
  mutating func moveToBottom(height: Int) { move(by: tree.rows.count, height: height) }

  /// Moves the cursor to the unfinished operation with the most dependents among the drawn operations.
  /// Returns `false` if all drawn operations have finished.
  mutating func moveToWorst(operations: OperationStore, height: Int) -> Bool {
    let nodes = tree.rows.compactMap { row -> OperationReport? in
      guard case .node(let id) = row.id else { return nil }
      return operations[id].flatMap { $0.state.isOver ? nil : $0 }
    }
    let worst = nodes.max { ($0.dependentCount, $1.id) < ($1.dependentCount, $0.id) }
    return worst.map { moveToNode($0.id, height: height) } ?? false
  }

  /// Moves the cursor to the row of an operation. Returns `false` if the operation has no row.
  mutating func moveToNode(_ id: OperationReport.ID, height: Int) -> Bool {
    guard let index = tree.rows.firstIndex(where: { $0.id == .node(id) }) else { return false }
    isUntouched = false
    place(index, height: height)
    return true
  }

  /// Returns the operations of the tree, including operations below folded rows.
  func operations(in operations: OperationStore) -> [OperationReport] {
    operations.neighbourhood(of: tree.roots.ids, direction, limit: Self.rowLimit)
  }

  /// Draws each operation below its parent on the longest path, even if it was drawn below another parent
  /// before.
  mutating func arrange(with contents: Contents) {
    draw(contents, owners: [:], selected: selectedOperation)
  }

  private mutating func draw(
    _ contents: Contents, owners: [OperationReport.ID: OperationReport.ID],
    selected: OperationReport.ID?
  ) {
    let operations = contents.operations
    focus = TreeFocus(
      opened: opened, selected: selected, matches: contents.matches, direction, in: operations)
    if let root = tree.root {
      tree = DependencyTree(
        root: root, direction: direction, operations: operations, folding: folding, owners: owners,
        estimates: contents.estimates, focus: focus, rowLimit: Self.rowLimit)
    } else {
      tree = DependencyTree(
        allOf: operations, folding: folding, owners: owners, estimates: contents.estimates,
        focus: focus, rowLimit: Self.rowLimit)
    }
    below = DescendantCounts(
      below: tree.roots.ids, direction, in: operations, limit: Self.rowLimit)
  }

  /// Unfolds the queue above the operation that was selected when the tree was opened, until a key changes
  /// the tree.
  private mutating func unfoldQueueOfOpened(_ contents: Contents) {
    guard isUntouched, opened != nil else { return }
    let group = tree.roots.groups.first { $0.ids.contains(where: focus.mustShow) }
    guard let group, folding.unfoldedQueues.insert(group.queue).inserted else { return }
    draw(contents, owners: tree.owners, selected: selectedOperation)
  }

  // MARK: Folding

  /// Folds the row of the cursor. If the row cannot be folded, moves the cursor to the parent's row.
  ///
  /// - Returns: `false` if the row cannot be folded and has no parent.
  mutating func foldOrGoUp(height: Int) -> Bool {
    isUntouched = false
    if case .group(let group) = cursor, folding.unfolded.remove(group) != nil { return true }
    if case .queue(let id) = cursor { return folding.unfoldedQueues.remove(id) != nil }
    if case .node(let id) = cursor, hasRowsBelowCursor, !folding.folded.contains(id) {
      folding.folded.insert(id)
      return true
    }
    let depth = cursorDepth
    guard depth > 0,
      let parent = tree.rows[..<cursorIndex].lastIndex(where: { $0.depth == depth - 1 })
    else { return false }
    place(parent, height: height)
    return true
  }

  /// Unfolds the row of the cursor. If the row cannot be unfolded, moves the cursor to the first row below
  /// it.
  ///
  /// - Returns: `false` if the row cannot be unfolded and has no row below it.
  mutating func unfoldOrGoDown(height: Int) -> Bool {
    isUntouched = false
    switch cursor {
    case .group(let group):
      folding.unfolded.insert(group)
      return true
    case .folded(let id):
      folding.folded.remove(id)
      return true
    case .node(let id) where folding.folded.remove(id) != nil:
      return true
    case .queue(let id) where folding.unfoldedQueues.insert(id).inserted:
      return true
    case .node, .reference, .unknown, .queue, .cut:
      guard hasRowsBelowCursor else { return false }
      place(cursorIndex + 1, height: height)
      return true
    }
  }

  /// Resets all folding if the user has folded or unfolded any row. Otherwise folds each row directly below
  /// the root, or unfolds the queues, which are folded at first.
  mutating func toggleAll() {
    isUntouched = false
    guard folding == DependencyTree.Folding() else {
      folding = DependencyTree.Folding()
      return
    }
    let depth = tree.root == nil ? 0 : 1
    for row in tree.rows where row.depth == depth {
      if case .node(let id) = row.id { folding.folded.insert(id) }
      if case .queue(let id) = row.id { folding.unfoldedQueues.insert(id) }
    }
  }

  private var cursorDepth: Int {
    tree.rows.indices.contains(cursorIndex) ? tree.rows[cursorIndex].depth : 0
  }

  private var hasRowsBelowCursor: Bool {
    let next = cursorIndex + 1
    return next < tree.rows.count && tree.rows[next].depth > cursorDepth
  }

  /// Returns the index of the first row on a screen of this height.
  func top(height: Int) -> Int {
    let top = min(self.top, max(0, tree.rows.count - height))
    return max(0, min(max(top, cursorIndex - height + 1), cursorIndex))
  }

  private mutating func place(_ index: Int, height: Int) {
    cursorIndex = max(0, min(index, tree.rows.count - 1))
    cursor = tree.rows.indices.contains(cursorIndex) ? tree.rows[cursorIndex].id : .cut
    top = top(height: height)
  }
}
