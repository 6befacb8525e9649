// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// Adds every operation of a queue to the table, so that a command does not miss dependents that
  /// the collector has not read yet.
  func takeUpAll(of queue: OperationQueue) {
    beginReading()
    var left: Int?
    while true {
      let changes = queue.takeChanges(
        for: collector, limit: Collector.slice, newRecords: nil)
      apply(changes)
      // The loop ends when it has added as many operations as the queue had at the beginning. It
      // does not wait for operations that the program adds later, because their number is
      // unlimited.
      left = (left ?? changes.counts.unfinished) - changes.adoptedCount
      guard changes.hasMore || changes.hasUnrecorded, left.map({ $0 > 0 }) == true else { return }
    }
  }

  /// Returns the ids of all unfinished operations that depend on any of the subjects, directly or
  /// indirectly, ascending. A command needs all dependents, because it is carried out only once.
  /// ``dependents(of:)``, which finds dependents for display, has a limit.
  func allDependents(of subjects: Set<OperationReport.ID>) -> [OperationReport.ID] {
    var seen = subjects
    var found: [OperationReport.ID] = []
    var pending = Array(subjects)
    while let id = pending.popLast() {
      for dependent in entries[id]?.dependents ?? [] where seen.insert(dependent.id).inserted {
        guard entries[dependent.id]?.report.state.isOver == false else { continue }
        found.append(dependent.id)
        pending.append(dependent.id)
      }
    }
    return found.sorted()
  }
}
