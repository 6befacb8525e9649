// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

// From an operation to what holds it up.

extension Dashboard {
  /// Selects the dependency that the selected operation will probably wait for the longest.
  ///
  /// One step: pressed again and again it ends at the culprit, which waits for nobody.
  mutating func goToBlocker() -> [Effect] {
    guard let id = selectedOperation, let report = shown.operations[id] else { return [.bell] }
    guard let blocker = shown.operations.blocker(of: report) else {
      show(
        report.unmetDependencyCount > 0
          ? "what \(id) waits for is not known here" : "\(id) waits for no other operation")
      return [.bell]
    }
    showOperation(blocker)
    return []
  }

  /// Selects the unfinished operation that most others depend on, among those that are shown.
  mutating func goToWorst() -> [Effect] {
    if view == .tree {
      let operations = shown.operations
      return changeTree { $0.moveToWorst(operations: operations, height: $1) }
    }
    let unfinished = rows.keys.filter { !$0.isOver }.compactMap { shown.operations[$0.id] }
    let worst = unfinished.max { ($0.dependentCount, $1.id) < ($1.dependentCount, $0.id) }
    guard let worst, worst.dependentCount > 0 else {
      show("nothing waits for any of these")
      return [.bell]
    }
    showOperation(worst.id)
    return []
  }

  /// Selects an operation in the view, whether its row is there yet or not.
  private mutating func showOperation(_ id: OperationReport.ID) {
    if detail != nil {
      detail = DetailState(id: id)
      return
    }
    if view == .tree {
      if changeTree({ $0.moveToNode(id, height: $1) }) == [] { return }
      openTree(of: id)
    }
    // What is not listed can still be looked at.
    if !list.select(id, in: rows, height: pageHeight) { detail = DetailState(id: id) }
  }
}
