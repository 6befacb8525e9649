// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Dashboard {
  /// Performs an action of the tree view.
  mutating func perform(_ key: KeyAction.Tree) -> [Effect] {
    switch key {
    case .toggle: toggleTree()
    case .showDependencies: return show(.waitsFor)
    case .showDependents: return show(.blocks)
    case .enterRow: return enterTreeRow()
    case .reroot: return rerootTree()
    case .showRoots: showRoots(selecting: tree?.selectedOperation)
    case .fold: return changeTree { $0.foldOrGoUp(height: $1) }
    case .unfold: return changeTree { $0.unfoldOrGoDown(height: $1) }
    case .toggleAllFolds: tree?.toggleAll()
    case .goToBlocker: return goToBlocker()
    case .goToWorst: return goToWorst()
    }
    return []
  }

  mutating func openTree(_ direction: GraphDirection) {
    guard let id = detail?.id ?? list.selection.id else { return }
    openTree(of: id, direction)
  }

  private mutating func toggleTree() {
    if screen.view == .tree, detail == nil {
      screen.view = .operations
    } else {
      openTreeOfAll()
    }
  }

  /// Opens the tree of all unfinished operations, with the cursor at the selected operation.
  mutating func openTreeOfAll() {
    showRoots(selecting: detail?.id ?? list.selection.id)
    screen.view = .tree
    detail = nil
  }

  private mutating func showRoots(selecting id: OperationReport.ID?) {
    tree = TreeState(allOf: OperationGraph(shown.operations), opened: id, after: tree)
  }

  /// The data from which the rows of the tree are created.
  var treeContents: TreeState.Contents {
    let filter = list.listing.filter
    let (monitored, now) = (shown, shownTime)
    let matches = filter.map { filter in
      Set(
        monitored.operations.all.lazy.filter { report in
          let queueName = monitored.queue(report.queue)?.name ?? ""
          return filter.matches(report, queueName: queueName, at: now)
        }.map(\.id))
    }
    return TreeState.Contents(
      graph: OperationGraph(monitored.operations), estimates: estimates, filter: filter,
      matches: matches)
  }

  /// Opens the tree of an operation. The default direction is that of the previous tree.
  mutating func openTree(
    of id: OperationReport.ID, _ direction: GraphDirection? = nil
  ) {
    screen.view = .tree
    detail = nil
    tree = TreeState(
      root: id, direction: direction ?? tree?.direction ?? .waitsFor,
      graph: OperationGraph(shown.operations), after: tree)
  }

  /// Changes the open tree with `body`, which gets the height of the screen. Sounds the bell if `body`
  /// returns `false`.
  mutating func changeTree(_ body: (inout TreeState, Int) -> Bool) -> [Effect] {
    let height = pageHeight
    guard var tree, body(&tree, height) else { return [.bell] }
    self.tree = tree
    return []
  }

  /// Shows the dependencies of the selected operation, or its dependents. If the tree of one operation is
  /// already open, changes the direction of that tree.
  private mutating func show(_ direction: GraphDirection) -> [Effect] {
    guard detail == nil, screen.view == .tree, let tree else {
      openTree(direction)
      return []
    }
    guard tree.tree.root != nil else {
      guard let id = tree.selectedOperation else { return [.bell] }
      openTree(of: id, direction)
      return []
    }
    let isBackAgain = direction == .blocks && tree.direction == .blocks
    self.tree?.direction = isBackAgain ? .waitsFor : direction
    return []
  }

  private mutating func enterTreeRow() -> [Effect] {
    switch tree?.cursor {
    case .reference(let id, _):
      let height = pageHeight
      return tree?.moveToNode(id, height: height) == true ? [] : [.bell]
    case .group, .queue, .folded: return changeTree { $0.unfoldOrGoDown(height: $1) }
    case .node: return openDetail()
    case .attempt(_, let id):
      let height = pageHeight
      return tree?.moveToNode(id, height: height) == true ? openDetail() : [.bell]
    case .unknown, .cut, nil: return [.bell]
    }
  }

  /// Makes the operation of the selected row the root of the tree. If the operation has a row in the list,
  /// selects it there too.
  private mutating func rerootTree() -> [Effect] {
    guard let tree, let id = tree.selectedOperation, let report = shown.operations[id] else {
      return [.bell]
    }
    self.tree = TreeState(
      root: id, direction: tree.direction, graph: OperationGraph(shown.operations), after: tree)
    layOut()
    _ = list.selection.select(report.id, in: list.rows, height: pageHeight)
    return []
  }

  // MARK: Ghost cursor

  /// Returns why an action is refused because the selected row has left the tree or the list of warnings; `nil`
  /// if the row is still there, or if the action does not concern the row.
  func ghostRefusal(of action: KeyAction) -> String? {
    if let refusal = warningRefusal(of: action) { return refusal }
    guard keyContext == .tree, let tree, tree.isGhost, concernsTreeRow(action) else { return nil }
    guard let id = tree.selectedOperation else {
      return "the selected row is no longer in the tree; press j, k or g"
    }
    let isInProcess = shown.operations.state(of: id)?.isOver == false || replay != nil
    return isInProcess
      ? "\(describe(id)) is no longer in this tree; press j, k or g"
      : "\(describe(id)) has already finished"
  }

  private func concernsTreeRow(_ action: KeyAction) -> Bool {
    switch action {
    case .tree(let key):
      switch key {
      case .enterRow, .reroot, .fold, .unfold, .goToBlocker: true
      // In the tree of one operation, these keys change the direction of the tree.
      case .showDependencies, .showDependents: tree?.tree.root == nil
      case .toggle, .showRoots, .toggleAllFolds, .goToWorst: false
      }
    case .command(let key):
      switch key {
      case .tag, .tagWithDependents: true
      case .cancel, .hold, .release, .raisePriority, .lowerPriority: !appliesToTags(key)
      // A job that has failed leaves the tree of unfinished operations, and can be retried.
      case .untagAll, .armCancelKeys, .retry: false
      }
    case .queue: true
    case .program, .screen, .movement, .list, .timeline, .detail, .log, .picker, .queueScreen,
      .groups, .setup, .warnings, .answer, .replay:
      false
    }
  }

  // MARK: Blockers

  /// Selects the unfinished operation with the most dependents among the shown operations.
  mutating func goToWorst() -> [Effect] {
    if screen.view == .tree {
      let operations = shown.operations
      return changeTree { $0.moveToWorst(operations: operations, height: $1) }
    }
    let unfinished = list.rows.keys.filter { !$0.isOver }.compactMap { shown.operations[$0.id] }
    let worst = unfinished.max { ($0.dependentCount, $1.id) < ($1.dependentCount, $0.id) }
    guard let worst, worst.dependentCount > 0 else {
      show("no operation depends on the shown operations")
      return [.bell]
    }
    showOperation(worst.id)
    return []
  }

  /// Shows an operation in the present view. If that view has no row for the operation, shows another tree or
  /// the detail screen.
  mutating func showOperation(_ id: OperationReport.ID) {
    if detail != nil {
      detail = DetailState(id: id)
      return
    }
    if openQueueScreen != nil { return showInQueueScreen(id) }
    if screen.view == .tree {
      if changeTree({ $0.moveToNode(id, height: $1) }) == [] { return }
      openTree(of: id)
      layOut()
    }
    // An operation without a row in the list can still be shown on the detail screen.
    if !list.selection.select(id, in: list.rows, height: pageHeight) {
      detail = DetailState(id: id)
    }
  }
}
