// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The tree view: what it shows, and where its cursor is.
struct TreeState: Sendable, Equatable {
  /// A tree of more rows than this is cut.
  static let rowLimit = 2_000

  /// Which way the tree grows.
  var direction: DependencyTree.Direction
  /// The row that keys act on.
  private(set) var cursor: DependencyTree.RowID
  /// The index of the first row on screen.
  private(set) var top = 0
  /// The rows, as of the last ``settle(operations:height:)``.
  private(set) var tree: DependencyTree

  private var unfolded: Set<DependencyTree.Group> = []
  private var cursorIndex = 0

  /// Opens the tree of one operation.
  init(
    root: OperationReport.ID, direction: DependencyTree.Direction, operations: OperationStore
  ) {
    self.direction = direction
    cursor = .node(root)
    tree = DependencyTree(
      root: root, direction: direction, operations: operations, rowLimit: Self.rowLimit)
  }

  /// The operation that the cursor's row stands for; the parent's where it stands for several.
  var selected: OperationReport.ID {
    switch cursor {
    case .node(let id), .reference(let id, _), .unknown(let id): id
    case .group(let group): group.parent
    case .cut: tree.root
    }
  }

  /// The operation that the cursor's row stands for; `nil` where it stands for several.
  var selectedOperation: OperationReport.ID? {
    switch cursor {
    case .node(let id), .reference(let id, _): id
    case .unknown, .group, .cut: nil
    }
  }

  /// Draws the tree anew and finds the cursor's row again; its neighbour where it has gone.
  mutating func settle(operations: OperationStore, height: Int) {
    tree = DependencyTree(
      root: tree.root, direction: direction, operations: operations, unfolded: unfolded,
      rowLimit: Self.rowLimit)
    let index = tree.rows.firstIndex { $0.id == cursor } ?? cursorIndex
    place(index, height: height)
  }

  /// Moves the cursor by `offset` rows.
  mutating func move(by offset: Int, height: Int) { place(cursorIndex + offset, height: height) }

  /// Moves the cursor to the first row.
  mutating func moveToTop(height: Int) { place(0, height: height) }

  /// Moves the cursor to the last row.
  mutating func moveToBottom(height: Int) { place(tree.rows.count - 1, height: height) }

  /// Moves the cursor to where an operation is drawn; `false` where it is not.
  mutating func moveToNode(_ id: OperationReport.ID, height: Int) -> Bool {
    guard let index = tree.rows.firstIndex(where: { $0.id == .node(id) }) else { return false }
    place(index, height: height)
    return true
  }

  /// Draws the members of a group from now on.
  mutating func unfold(_ group: DependencyTree.Group) { unfolded.insert(group) }

  /// The index of the first row to show on a screen of this height.
  func top(height: Int) -> Int {
    let top = min(self.top, max(0, tree.rows.count - height))
    return max(0, min(max(top, cursorIndex - height + 1), cursorIndex))
  }

  private mutating func place(_ index: Int, height: Int) {
    cursorIndex = max(0, min(index, tree.rows.count - 1))
    if tree.rows.indices.contains(cursorIndex) { cursor = tree.rows[cursorIndex].id }
    top = top(height: height)
  }
}
