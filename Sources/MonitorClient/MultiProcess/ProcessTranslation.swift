// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Translates between one of several processes and a viewer of all of them. For the viewer, ids
/// include the process's number and times are of the viewer's clock. For the process, the viewer's
/// interest is reduced to its own operations.
///
/// A value with an id that no process gives out is dropped, because the id would name an operation
/// or queue of another process.
struct ProcessTranslation: Equatable {
  /// The number of the process.
  let number: Int
  /// How far its clock is ahead of the viewer's.
  var clockLead = Duration.zero

  // MARK: To the viewer

  /// Converts a moment of the process's clock.
  func merged(_ time: MonitorTime) -> MonitorTime {
    clockLead == .zero ? time : time - clockLead
  }

  /// Translates a greeting.
  func merged(_ hello: Hello) -> Hello {
    var merged = hello
    merged.anchor = self.merged(hello.anchor)
    merged.processStarted = self.merged(hello.processStarted)
    return merged
  }

  /// Translates an update.
  func merged(_ update: Update) -> Update {
    var merged = update
    merged.time = self.merged(update.time)
    merged.queues = update.queues.compactMap(self.merged)
    merged.changed = update.changed.compactMap(self.merged)
    merged.removed = self.merged(update.removed)
    merged.dependents = update.dependents.map {
      Dependents(
        subjects: Set(self.merged(Array($0.subjects))), ids: self.merged($0.ids), isCut: $0.isCut)
    }
    merged.events?.events = update.events?.events.compactMap(self.merged) ?? []
    merged.runs?.runs = update.runs?.runs.compactMap(self.merged) ?? []
    merged.warnings = update.warnings.map(self.merged)
    merged.detail = update.detail.flatMap(self.merged)
    return merged
  }

  /// Translates ids of operations.
  func merged(_ ids: [OperationReport.ID]) -> [OperationReport.ID] {
    ids.compactMap { $0.numbered(number) }
  }

  private func merged(_ report: QueueReport) -> QueueReport? {
    report.id.numbered(number).map {
      QueueReport(
        id: $0, name: report.name, counts: report.counts, width: report.width,
        isSuspended: report.isSuspended)
    }
  }

  private func merged(_ report: OperationReport) -> OperationReport? {
    guard let id = report.id.numbered(number), let queue = report.queue.numbered(number) else {
      return nil
    }
    var merged = OperationReport(
      id: id, name: report.name, className: report.className, queue: queue, state: report.state,
      priority: report.priority, dependencies: self.merged(report.dependencies),
      unmetDependencyCount: report.unmetDependencyCount, isExcluded: report.isExcluded,
      dependentCount: report.dependentCount, added: report.added.map(self.merged),
      becameReady: report.becameReady.map(self.merged), started: report.started.map(self.merged),
      cancelRequested: report.cancelRequested.map(self.merged),
      finished: report.finished.map(self.merged))
    merged.cancelRequester = report.cancelRequester
    return merged
  }

  private func merged(_ event: OperationEvent) -> OperationEvent? {
    guard let operation = event.operation.numbered(number), let queue = event.queue.numbered(number)
    else { return nil }
    var merged = event
    (merged.operation, merged.queue) = (operation, queue)
    merged.time = self.merged(event.time)
    return merged
  }

  private func merged(_ run: OperationRun) -> OperationRun? {
    guard let id = run.id.numbered(number), let queue = run.queue.numbered(number) else {
      return nil
    }
    return OperationRun(
      id: id, title: run.title, queue: queue, state: run.state, started: merged(run.started),
      finished: run.finished.map(merged))
  }

  private func merged(_ warning: MonitorWarning) -> MonitorWarning {
    var merged = warning
    merged.operations = self.merged(warning.operations)
    merged.awaited = self.merged(warning.awaited)
    merged.queue = warning.queue.flatMap { $0.numbered(number) }
    merged.since = warning.since.map(self.merged)
    merged.process = number
    return merged
  }

  private func merged(_ detail: OperationDetail) -> OperationDetail? {
    guard let id = detail.id.numbered(number) else { return nil }
    var merged = detail
    merged.id = id
    merged.awaitedOperations = self.merged(detail.awaitedOperations)
    merged.awaitedQueues = detail.awaitedQueues.compactMap { $0.numbered(number) }
    return merged
  }

  // MARK: From the viewer

  /// Returns the viewer's interest for this process. It has the same number of rows, because all
  /// rows may belong to this process.
  func own(_ interest: Interest) -> Interest {
    var own = interest
    own.filter = interest.filter?.asked(of: number)
    own.operations = Set(self.own(interest.operations))
    own.subjects = Set(self.own(interest.subjects))
    own.detail = interest.detail.flatMap { self.own([$0]).first }
    own.graphs = Set(
      interest.graphs.compactMap { graph in
        self.own([graph.root]).first.map {
          Interest.Graph(root: $0, direction: graph.direction, limit: graph.limit)
        }
      })
    return own
  }

  /// Returns the ids that belong to this process, in the process's own form.
  func own(_ ids: some Sequence<OperationReport.ID>) -> [OperationReport.ID] {
    ids.filter { $0.processNumber == number }.map(\.withinProcess)
  }
}
