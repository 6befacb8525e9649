// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension OperationReport {
  /// Returns the state changes of the operation since an earlier report, sorted by time. No change
  /// is missing, because each report has the times of all changes.
  func events(since old: OperationReport?) -> [OperationEvent] {
    var previous = old?.state
    return steps(since: old).compactMap { time, state in
      guard state != previous, previous?.isOver != true else { return nil }
      defer { previous = state }
      return OperationEvent(
        time: time, operation: id, title: title, queue: queue, old: previous, new: state)
    }
  }

  private func steps(since old: OperationReport?) -> [(MonitorTime, OperationState)] {
    var steps: [(MonitorTime, OperationState)] = []
    func add(_ time: KeyPath<OperationReport, MonitorTime?>, _ state: OperationState) {
      guard let moment = self[keyPath: time], moment != old?[keyPath: time] else { return }
      // If a cancelled operation becomes ready or starts, it does so only to leave its queue.
      let isCancelled = cancelRequested.map { $0 <= moment } ?? false
      steps.append((moment, isCancelled && !state.isOver ? .cancelling : state))
    }
    // If an operation was ready when it was added, the two times belong to one state change. Only
    // the change to the ready state is reported.
    if becameReady != added { add(\.added, .waiting) }
    add(\.becameReady, state == .held ? .held : .ready)
    add(\.started, .executing)
    add(\.cancelRequested, .cancelling)
    add(\.finished, state)
    return steps.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .map(\.element)
  }
}

extension ReplayTable {
  /// Returns the reasons why an operation does not start, if its report shows them.
  func reasons(of report: OperationReport) -> [OperationDetail.Reason] {
    let queue = state.latest?.queues.first { $0.id == report.queue }
    var reasons: [OperationDetail.Reason] = []
    func add(_ kind: OperationDetail.Reason.Kind, _ sentence: String) {
      reasons.append(.init(kind: kind, sentence: sentence))
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
        """)
    } else if report.isExcluded {
      add(.excluded, "an executing operation holds an exclusion that it needs")
    } else if report.state == .waiting {
      add(.notReadyByItself, "its dependencies are met, and its own isReady is false")
    } else if report.state == .ready, let queue, let width = queue.width,
      queue.counts.executing >= width
    {
      add(.noFreeSlot, "it is ready, and every slot of its queue “\(queue.name)” is in use")
    } else if report.state == .ready, reasons.isEmpty {
      add(
        .notStartedYet,
        "it is ready and not started; recordings do not show if a barrier is ahead")
    }
    return reasons
  }
}
