// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// Creates updates for a dashboard as a collector does, but reports all operations, without limits.
struct FakeMonitor {
  private var reports: [OperationReport.ID: OperationReport] = [:]
  private var dependents: [OperationReport.ID: [OperationReport.ID]] = [:]

  /// Creates a simulated monitor that reports these operations. If several operations have the same
  /// id, the last one is used.
  init(_ operations: [OperationReport]) {
    for report in operations { reports[report.id] = report }
    for report in reports.values {
      for dependency in report.dependencies {
        dependents[dependency, default: []].append(report.id)
      }
    }
    for id in reports.keys { reports[id]?.dependentCount = dependents[id]?.count ?? 0 }
  }

  /// Returns the update that a collector would send after certain operations have changed or were
  /// removed.
  func update(
    for interest: Interest, queues: [QueueReport], changed: [OperationReport.ID],
    removed: [OperationReport.ID], lostChanges: UInt64 = 0, warnings: [MonitorWarning] = [],
    at time: MonitorTime
  ) -> Update {
    let touched = changed.flatMap { [$0] + (reports[$0]?.dependencies ?? []) }
    let names = Dictionary(queues.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    let warned = Set(warnings.flatMap(\.markedOperations))
    let matchCount = reports.values.count { report in
      if interest.hidesOver, report.state.isOver { return false }
      if interest.showsWarnedOnly, !warned.contains(report.id) { return false }
      return interest.filter?.matches(
        report, queueName: names[report.queue] ?? "", at: time) ?? true
    }
    var update = Update(
      time: time, queues: queues,
      changed: Set(touched).sorted().compactMap { reports[$0] }, removed: removed,
      matchCount: matchCount, keptCount: reports.count,
      dependents: interest.subjects.isEmpty ? nil : unfinishedDependents(of: interest.subjects),
      lostChanges: lostChanges)
    update.keptFinishedCount = reports.values.count(where: \.state.isOver)
    update.warnings = warnings
    if interest.rootLimit > 0 {
      update.rootCount = reports.values.count(where: \.isRoot)
    }
    update.detail = interest.detail.flatMap { reports[$0] }.flatMap { detail(of: $0) }
    update.matches = interest.search.map { search in
      let keys = reports.values.compactMap { report in
        interest.sortKey(of: report, queueName: names[report.queue] ?? "", at: time)
      }
      let sorted = interest.order.isReversed ? keys.sorted(by: >) : keys.sorted()
      let found = sorted.map(\.id).filter { reports[$0]?.isMatch(of: search.text) == true }
      let start = sorted.firstIndex { $0.id == search.start } ?? 0
      let position = sorted[..<start].count { reports[$0.id]?.isMatch(of: search.text) == true }
      return SearchMatches(search, count: found.count, position: position) { Array(found[$0]) }
    }
    return update
  }

  private func detail(of report: OperationReport) -> OperationDetail? {
    if report.state.isOver { return nil }
    var detail = OperationDetail(id: report.id, qualityOfService: .utility)
    if report.state == .held {
      detail.reasons.append(
        .init(kind: .queueSuspended, sentence: "its queue 3 “net” is suspended"))
    }
    if report.unmetDependencyCount > 0 {
      let first = report.dependencies.first { reports[$0]?.state.isOver == false }
      let name = first.flatMap { reports[$0]?.name } ?? ""
      detail.reasons.append(
        .init(
          kind: .unmetDependencies,
          sentence: "\(report.unmetDependencyCount) of \(report.dependencies.count) dependencies"
            + " have not finished: it waits for \(first.map { "\($0)" } ?? "") “\(name)”,"
            + " which waits for other operations"))
    }
    return detail
  }

  private func unfinishedDependents(of subjects: Set<OperationReport.ID>) -> Dependents {
    var found: Set<OperationReport.ID> = []
    var pending = Array(subjects)
    while let id = pending.popLast() {
      for dependent in dependents[id] ?? [] where !subjects.contains(dependent) {
        guard reports[dependent]?.state.isOver == false, found.insert(dependent).inserted else {
          continue
        }
        pending.append(dependent)
      }
    }
    return Dependents(subjects: subjects, ids: found.sorted())
  }
}
