// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension ReplayTable {
  /// Returns the reasons why an operation does not start, if its report shows them.
  func reasons(of report: OperationReport) -> [OperationDetail.Reason] {
    let queue = state.latest?.queues.first { $0.id == report.queue }
    var reasons: [OperationDetail.Reason] = []
    func add(
      _ kind: OperationDetail.Reason.Kind, _ sentence: String,
      _ operations: [OperationReport.ID] = []
    ) {
      reasons.append(.init(kind: kind, sentence: sentence, operations: operations))
    }
    if let queue, queue.isSuspended || queue.width == 0 {
      add(
        .queueSuspended,
        "its queue “\(queue.name)” is suspended\(queue.isSuspended ? "" : ": its width is 0")")
    }
    if report.unmetDependencyCount > 0 {
      let first = report.dependencies.lazy.compactMap { self.state.operations[$0] }
        .first { !$0.state.isOver }
      let example = first.map { ": it waits for \($0.id) “\($0.title)”" } ?? ""
      add(
        .unmetDependencies,
        """
        \(report.unmetDependencyCount) of \(report.dependencies.count) dependencies have not \
        finished\(example)
        """, first.map { [$0.id] } ?? [])
    } else if report.isExcluded {
      add(.excluded, "it needs an exclusion that an executing operation holds")
    } else if report.state == .waiting {
      add(.notReadyByItself, "its dependencies are met, and its own isReady is false")
    } else if report.state == .ready, let queue, let width = queue.width,
      queue.counts.executing >= width
    {
      add(
        .noFreeSlot, "it is ready, and every slot of its queue “\(queue.name)” is in use",
        slotHolders(of: queue.id))
    } else if report.state == .ready, reasons.isEmpty {
      add(
        .notStartedYet,
        "it is ready and not started; a recording does not show whether a barrier is ahead")
    }
    return reasons
  }

  /// Returns the operations that execute in a queue, the longest run first.
  private func slotHolders(of queue: QueueReport.ID) -> [OperationReport.ID] {
    state.operations.all.filter { $0.queue == queue && $0.started != nil && !$0.state.isOver }
      .map { SortKey($0, by: .time) }.sorted().map(\.id)
  }
}
