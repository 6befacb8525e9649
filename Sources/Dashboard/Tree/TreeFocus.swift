// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations on which the rows of a tree depend: the selected operation, the operation that was selected
/// when the tree was opened, and the operations that match the filter.
struct TreeFocus: Sendable, Equatable {
  /// The operation that was selected when the tree was opened; `nil` if no operation was selected.
  private(set) var opened: OperationReport.ID?
  /// The operation of the selected row; `nil` if the row does not represent one operation. The row stays in the
  /// tree after the operation has finished, or if the operation no longer matches the filter.
  private(set) var selected: OperationReport.ID?
  /// The operations that match the filter; `nil` without a filter.
  private(set) var matches: Set<OperationReport.ID>?

  /// The number of dependencies and dependents that were followed. Tests check that the number is limited.
  private(set) var stepCount = 0

  /// The operations with rows that no group of similar operations hides.
  private var path: Set<OperationReport.ID> = []
  /// The operations that the tree may contain: those that match the filter, and all operations between them
  /// and the roots. It is `nil` without a filter.
  private var kept: Set<OperationReport.ID>?

  /// Creates the focus of a tree without a filter and without selected operations.
  init() {}

  /// Creates the focus of a tree in this direction. The operations in `above` are those above the selected row.
  init(
    opened: OperationReport.ID?, selected: OperationReport.ID?,
    above: Set<OperationReport.ID> = [], matches: Set<OperationReport.ID>?,
    _ direction: GraphDirection, in graph: OperationGraph
  ) {
    self.opened = opened
    self.selected = selected
    self.matches = matches
    if let opened {
      path = graph.closure(of: [opened], direction.opposite, stepCount: &stepCount)
    }
    path.formUnion(above)
    if let selected { path.insert(selected) }
    guard let matches else { return }
    kept = graph.closure(
      of: matches.union(selected.map { [$0] } ?? []), direction.opposite, stepCount: &stepCount)
  }

  /// Returns an operation and all operations above it in a tree of this direction, on all paths.
  static func path(
    to id: OperationReport.ID, _ direction: GraphDirection, in graph: OperationGraph
  ) -> Set<OperationReport.ID> {
    var stepCount = 0
    return graph.closure(of: [id], direction.opposite, stepCount: &stepCount)
  }

  /// Returns whether the tree may contain an operation.
  func contains(_ id: OperationReport.ID) -> Bool { kept?.contains(id) ?? true }

  /// Returns whether an operation matches the filter. Without a filter, every operation does.
  func isMatch(_ id: OperationReport.ID) -> Bool { matches?.contains(id) ?? true }

  /// Returns whether an operation must have a row of its own, outside of a group of similar operations.
  func mustShow(_ id: OperationReport.ID) -> Bool { path.contains(id) }

  /// Returns whether an unfinished operation must be in the tree even if its dependents are not known.
  func needsRoot(_ id: OperationReport.ID) -> Bool {
    id == opened || id == selected || matches?.contains(id) == true
  }
}

extension GraphDirection {
  /// The other direction.
  fileprivate var opposite: GraphDirection { self == .waitsFor ? .blocks : .waitsFor }
}

extension OperationGraph {
  /// Returns the operations and all known operations to which they lead, whatever their states. Adds the number
  /// of followed dependencies or dependents to `stepCount`.
  fileprivate func closure(
    of ids: Set<OperationReport.ID>, _ direction: GraphDirection, stepCount: inout Int
  ) -> Set<OperationReport.ID> {
    var found = ids
    var pending = ids.compactMap { vertex(of: $0) }
    var isFound = marks(pending)
    while let vertex = pending.popLast() {
      let neighbours = neighbours(of: vertex, direction)
      stepCount += neighbours.count
      for neighbour in neighbours where !isFound[neighbour] {
        isFound[neighbour] = true
        found.insert(id(neighbour))
        pending.append(neighbour)
      }
    }
    return found
  }
}
