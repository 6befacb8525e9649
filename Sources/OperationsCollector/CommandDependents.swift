// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore

extension CollectorTable {
  /// Takes up every operation that is in a queue now: a command must not miss what depends on another
  /// because the collector has not come to it yet.
  func takeUpAll(of queue: OperationQueue) {
    beginReading()
    var left: Int?
    while true {
      let changes = queue.takeRecordedChanges(
        for: recorder, limit: Collector.slice, newRecords: nil)
      apply(changes)
      // Those that have come since then are none of its business, and might never end.
      left = (left ?? changes.waiting + changes.ready + changes.executing) - changes.adoptedCount
      guard changes.hasMore || changes.hasUnrecorded, left.map({ $0 > 0 }) == true else { return }
    }
  }

  /// All unfinished operations that depend on any of these, directly or through others, ascending: for
  /// a command, which is carried out once and must leave none out. What is shown meanwhile is
  /// ``dependents(of:)``, which has a limit.
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
