// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension CollectorTable {
  /// Updates the search for priority inversions after an operation's state or priority has changed.
  func notePriority(of entry: OperationEntry) {
    let isUrgent =
      entry.report.state == .waiting && PriorityInversions.isHigh(entry.report.priority)
    setUrgent(entry, isUrgent)
    inversions.note(entry, at: readingTime)
  }

  /// Sets whether an operation is urgent, which means that it has a high priority and waits.
  /// Updates the numbers of urgent dependents of its dependencies.
  func setUrgent(_ entry: OperationEntry, _ isUrgent: Bool) {
    guard isUrgent != entry.isUrgent else { return }
    entry.isUrgent = isUrgent
    for id in entry.report.dependencies {
      guard let dependency = entries[id] else { continue }
      dependency.urgentDependentCount += isUrgent ? 1 : -1
      inversions.note(dependency, at: readingTime)
    }
  }

  /// Returns the warnings about operations of high priority that wait for operations of low
  /// priority.
  func priorityInversions(at now: MonitorTime) -> [MonitorWarning] {
    inversions.advance(to: now)
    let low = inversions.candidates.due(PriorityInversions.searchLimit).filter {
      report($0.id).map(inversions.isOvertaken) ?? false
    }
    guard let first = low.first else { return [] }
    var waiting: [OperationReport.ID] = []
    var seen: Set<OperationReport.ID> = []
    for (id, _) in low where waiting.count < MonitorWarning.operationLimit {
      let dependents = entries[id]?.dependents.prefix(PriorityInversions.dependentLimit) ?? []
      for dependent in dependents
      where entries[dependent.id]?.isUrgent == true && seen.insert(dependent.id).inserted {
        waiting.append(dependent.id)
      }
    }
    return [
      MonitorWarning(
        kind: .priorityInversion, operations: waiting, awaited: low.map(\.id), count: low.count,
        since: first.since)
    ]
  }
}
