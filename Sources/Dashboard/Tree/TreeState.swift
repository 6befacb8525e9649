// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The state of the tree view: its rows and its cursor.
///
/// The selection is an operation or another row, and never a position. Only a key or a new filter selects
/// another row. If the selected row leaves the tree, a ghost cursor replaces it: a line without an operation, at
/// the position of the row.
struct TreeState: Sendable, Equatable {
  /// The maximum number of rows of a tree, except rows that lead to the selected operation. A larger tree is cut.
  static let rowLimit = 2_000

  /// Whether the tree shows dependencies or dependents.
  var direction: GraphDirection
  /// The id of the selected row, also if a ghost cursor stands for the row. It is `nil` if no row is selected,
  /// because the tree has had no row yet or a new filter has hidden all rows.
  private(set) var cursor: DependencyTree.RowID?
  /// Whether the selected row has left the tree.
  private(set) var isGhost = false
  /// The index of the first line on screen.
  private(set) var top = 0
  /// The tree that the last call of ``settle(with:height:)`` created.
  private(set) var tree: DependencyTree
  /// The numbers of unfinished operations below the operations that have rows.
  private(set) var below = DescendantCounts()
  /// The operations on which the rows of the tree depend.
  private(set) var focus = TreeFocus()

  /// The number of dependencies and dependents that the last call of ``settle(with:height:)`` followed. Tests
  /// check that the number is limited.
  private(set) var stepCount = 0

  /// The operation that was selected when the tree was opened; `nil` if none was selected, or if the tree has
  /// a single root.
  let opened: OperationReport.ID?

  private var folding = DependencyTree.Folding()
  /// The folding of the tree of all unfinished operations. It is kept while the tree of one operation is shown.
  private let foldingOfAll: DependencyTree.Folding
  /// The index of the selected row or, if a ghost cursor stands for the row, the index of its line.
  private var cursorIndex = 0
  /// The filter of the rows; `nil` before the first call of ``settle(with:height:)``.
  private var settledFilter: OperationFilter??
  /// Whether a key has folded or unfolded rows since the rows were created.
  private var isFoldingNew = false

  /// The data from which the rows of a tree are created.
  struct Contents {
    let graph: OperationGraph
    var estimates = RunTimeEstimates()
    /// The filter of the list; `nil` if there is none.
    var filter: OperationFilter?
    /// The operations that match the filter; `nil` if there is no filter.
    var matches: Set<OperationReport.ID>?
  }

  /// Creates the state for the tree of one operation. If the previous tree shows the same, its folding is kept.
  init(
    root: OperationReport.ID, direction: GraphDirection, graph: OperationGraph,
    after previous: TreeState? = nil
  ) {
    self.direction = direction
    opened = nil
    cursor = .node(root)
    foldingOfAll = previous?.keptFoldingOfAll ?? DependencyTree.Folding()
    if let previous, previous.tree.root == root, previous.direction == direction {
      folding = previous.folding
    }
    tree = DependencyTree(
      root: root, direction: direction, graph: graph, rowLimit: Self.rowLimit, showsAttempts: true)
  }

  /// Creates the state for the tree of all unfinished operations, with the cursor at the row of an operation.
  /// If this operation is `nil` or has finished, the first row is selected. The folding of the last such tree is
  /// kept.
  init(
    allOf graph: OperationGraph, opened: OperationReport.ID? = nil,
    after previous: TreeState? = nil
  ) {
    direction = .waitsFor
    self.opened = opened.flatMap { id in
      graph.vertex(of: id).flatMap { graph.isOver($0) ? nil : id }
    }
    foldingOfAll = previous?.keptFoldingOfAll ?? DependencyTree.Folding()
    folding = foldingOfAll
    tree = DependencyTree(allOf: graph, rowLimit: Self.rowLimit)
    cursor = self.opened.map { .node($0) }
  }

  private var keptFoldingOfAll: DependencyTree.Folding {
    tree.root == nil ? folding : foldingOfAll
  }

  /// The operation of the selected row. If the row represents several operations or an attempt, it is their parent. If the
  /// row represents a queue, it is `nil`.
  var selected: OperationReport.ID? {
    switch cursor {
    case .node(let id), .reference(let id, _), .folded(let id), .unknown(let id),
      .attempt(_, let id):
      id
    case .group(let group): group.parent
    case .queue: nil
    case .cut, nil: tree.root
    }
  }

  /// The operation of the selected row; `nil` if the row represents several operations, an attempt
  /// or a queue.
  var selectedOperation: OperationReport.ID? {
    switch cursor {
    case .node(let id), .reference(let id, _): id
    case .folded, .unknown, .attempt, .group, .queue, .cut, nil: nil
    }
  }

  /// The queue of the selected row; `nil` if the row does not represent a queue.
  var selectedQueue: QueueReport.ID? { if case .queue(let id) = cursor { id } else { nil } }

  // MARK: Rows

  /// Creates the rows again, and finds the selected row. If that row has left the tree, a ghost cursor replaces
  /// it.
  mutating func settle(with contents: Contents, height: Int) {
    // A new filter may hide the selected row, but the row stays if its operation no longer matches later.
    let isNewFilter = settledFilter.map { $0 != contents.filter } ?? false
    settledFilter = .some(contents.filter)
    let isNewDirection = tree.direction != direction
    let isByKey = isNewFilter || isNewDirection || isFoldingNew
    isFoldingNew = false
    stepCount = 0
    let ancestors = ancestorsOfCursor
    draw(contents, keepsOwners: !isNewDirection, selected: isNewFilter ? nil : selectedOperation)
    if !isByKey, indexOfCursor == nil { reveal(contents) }
    if let index = indexOfCursor {
      place(index, height: height)
    } else if cursor == nil || isNewFilter {
      place(firstMatch, height: height)
    } else if isByKey, let index = ancestors.compactMap({ index(of: $0) }).first {
      place(index, height: height)
    } else if isByKey, !isGhost || isNewDirection {
      place(cursorIndex, height: height)
    } else {
      isGhost = true
      cursorIndex = min(cursorIndex, tree.rows.count)
      top = window(height: height).indexes.lowerBound
    }
  }

  /// The index of the selected row or, if the row was a reference that has left the tree, of the own row of the
  /// operation; `nil` if the tree has no such row.
  private var indexOfCursor: Int? {
    guard let cursor else { return nil }
    if let index = index(of: cursor) { return index }
    guard case .reference(let id, _) = cursor else { return nil }
    return index(of: .node(id))
  }

  private func index(of id: DependencyTree.RowID) -> Int? {
    tree.rows.firstIndex { $0.id == id }
  }

  /// The rows above the selected row that it belongs to, the nearest first; empty for a ghost cursor.
  private var ancestorsOfCursor: [DependencyTree.RowID] {
    guard !isGhost else { return [] }
    var depth = cursorDepth
    var found: [DependencyTree.RowID] = []
    for row in tree.rows.prefix(cursorIndex).reversed() where row.depth < depth && row.id != .cut {
      found.append(row.id)
      depth = row.depth
    }
    return found
  }

  /// The index of the first row whose operation matches the filter; 0 if there is no such row.
  private var firstMatch: Int {
    tree.rows.firstIndex { row in
      if case .node(let id) = row.id { focus.isMatch(id) } else { false }
    } ?? 0
  }

  /// Returns the operations of the tree, including operations below folded rows.
  func operations(in operations: OperationStore) -> [OperationReport] {
    operations.neighbourhood(of: tree.roots.ids, direction, limit: Self.rowLimit)
  }

  /// Draws each operation below its parent on the longest path, even if it was drawn below another parent
  /// before.
  mutating func arrange(with contents: Contents) {
    draw(contents, keepsOwners: false, selected: selectedOperation)
  }

  private mutating func draw(
    _ contents: Contents, keepsOwners: Bool, selected: OperationReport.ID?
  ) {
    let graph = contents.graph
    let owners = keepsOwners ? tree.owners : [:]
    focus = TreeFocus(
      opened: opened, selected: selected, above: rowsAboveCursor(owners), matches: contents.matches,
      direction, in: graph)
    if let root = tree.root {
      tree = DependencyTree(
        root: root, direction: direction, graph: graph, folding: folding, owners: owners,
        estimates: contents.estimates, focus: focus, rowLimit: Self.rowLimit, showsAttempts: true)
    } else {
      tree = DependencyTree(
        allOf: graph, folding: folding, owners: owners, estimates: contents.estimates,
        focus: focus, rowLimit: Self.rowLimit)
    }
    below = DescendantCounts(
      below: tree.roots.drawn(folding, leadingTo: focus, limit: Self.rowLimit), direction,
      in: graph,
      limit: Self.rowLimit)
    stepCount += focus.stepCount + tree.stepCount + below.stepCount
  }

  /// Returns the operations above the selected row, if each operation is drawn below its owner.
  private func rowsAboveCursor(
    _ owners: [OperationReport.ID: OperationReport.ID]
  ) -> Set<OperationReport.ID> {
    var next: OperationReport.ID? =
      switch cursor {
      case .node(let id): owners[id]
      case .reference(_, let parent): parent
      case .folded(let id), .unknown(let id), .attempt(_, let id): id
      case .group(let group): group.parent
      case .queue, .cut, nil: nil
      }
    var found: Set<OperationReport.ID> = []
    while let id = next, found.insert(id).inserted { next = owners[id] }
    return found
  }

  /// Unfolds the queue and the operations above the selected operation.
  private mutating func reveal(_ contents: Contents) {
    guard let id = selectedOperation else { return }
    let path = TreeFocus.path(to: id, direction, in: contents.graph)
    let old = folding
    folding.folded.subtract(path.subtracting([id]))
    if let group = tree.roots.groups.first(where: { $0.ids.contains(where: path.contains) }) {
      folding.unfoldedQueues.insert(group.queue)
    }
    if folding != old { draw(contents, keepsOwners: true, selected: id) }
  }

  // MARK: Cursor

  /// Returns the part of the tree on a screen of this height.
  func window(height: Int) -> ListSelection.Window {
    let lineCount = tree.rows.count + (isGhost ? 1 : 0)
    let scrolled = min(self.top, max(0, lineCount - height))
    let top = max(0, min(max(scrolled, cursorIndex - height + 1), cursorIndex))
    let end = min(lineCount, top + height)
    guard isGhost else { return ListSelection.Window(indexes: top..<end, ghostLine: nil) }
    return ListSelection.Window(indexes: top..<end - 1, ghostLine: cursorIndex - top)
  }

  /// Moves the cursor by `offset` rows. A ghost cursor moves from the line that it has.
  mutating func move(by offset: Int, height: Int) {
    guard !tree.rows.isEmpty else { return }
    place(cursorIndex + (isGhost && offset > 0 ? offset - 1 : offset), height: height)
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
    place(index, height: height)
    return true
  }

  private mutating func place(_ index: Int, height: Int) {
    isGhost = false
    cursorIndex = max(0, min(index, tree.rows.count - 1))
    cursor = tree.rows.indices.contains(cursorIndex) ? tree.rows[cursorIndex].id : nil
    top = window(height: height).indexes.lowerBound
  }

  // MARK: Folding

  /// Folds the selected row. If the row cannot be folded, moves the cursor to the parent's row.
  ///
  /// - Returns: `false` if the row cannot be folded and has no parent, or if it has left the tree.
  mutating func foldOrGoUp(height: Int) -> Bool {
    guard !isGhost else { return false }
    if case .queue(let id) = cursor { return fold { $0.unfoldedQueues.remove(id) != nil } }
    if case .node(let id) = cursor, hasRowsBelowCursor, fold({ $0.folded.insert(id).inserted }) {
      return true
    }
    let depth = cursorDepth
    guard depth > 0,
      let parent = tree.rows[..<cursorIndex].lastIndex(where: { $0.depth == depth - 1 })
    else { return false }
    place(parent, height: height)
    return true
  }

  /// Unfolds the selected row. If the row cannot be unfolded, moves the cursor to the first row below it.
  ///
  /// - Returns: `false` if the row cannot be unfolded and has no row below it, or if it has left the tree.
  mutating func unfoldOrGoDown(height: Int) -> Bool {
    guard !isGhost else { return false }
    switch cursor {
    case .group(let group): return fold { $0.unfolded.insert(group).inserted }
    case .folded(let id): return fold { $0.folded.remove(id) != nil }
    case .node(let id) where fold({ $0.folded.remove(id) != nil }): return true
    case .queue(let id) where fold({ $0.unfoldedQueues.insert(id).inserted }): return true
    case .node, .reference, .unknown, .attempt, .queue, .cut, nil:
      guard hasRowsBelowCursor else { return false }
      place(cursorIndex + 1, height: height)
      return true
    }
  }

  /// Resets all folding if it has changed any row of the tree. Otherwise folds each row directly below the root,
  /// or unfolds the queues, which are folded at first.
  mutating func toggleAll() {
    isFoldingNew = true
    let hasFolding = hasFolding
    folding = DependencyTree.Folding()
    guard !hasFolding else { return }
    let depth = tree.root == nil ? 0 : 1
    for row in tree.rows where row.depth == depth {
      if case .node(let id) = row.id { folding.folded.insert(id) }
      if case .queue(let id) = row.id { folding.unfoldedQueues.insert(id) }
    }
  }

  /// Whether a row of the tree is folded or unfolded. The folding may also contain operations and queues that have
  /// left the tree.
  private var hasFolding: Bool {
    let parents = Set(folding.unfolded.lazy.map(\.parent))
    return tree.rows.contains { row in
      switch row.id {
      case .folded: true
      case .node(let id): parents.contains(id)
      case .queue(let id): folding.unfoldedQueues.contains(id)
      case .reference, .group, .unknown, .attempt, .cut: false
      }
    }
  }

  /// Changes the folding with `body`, which returns whether it has changed the folding.
  private mutating func fold(_ body: (inout DependencyTree.Folding) -> Bool) -> Bool {
    let isChanged = body(&folding)
    if isChanged { isFoldingNew = true }
    return isChanged
  }

  private var cursorDepth: Int {
    tree.rows.indices.contains(cursorIndex) ? tree.rows[cursorIndex].depth : 0
  }

  private var hasRowsBelowCursor: Bool {
    let next = cursorIndex + 1
    return next < tree.rows.count && tree.rows[next].depth > cursorDepth
  }
}
