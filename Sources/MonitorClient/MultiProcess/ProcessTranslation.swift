// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Translates messages between one of several processes and a viewer that watches all of them. The
/// viewer sees ids that include the process's number, and times of the viewer's clock. The process
/// receives only the part of the viewer's interest that concerns its own operations.
///
/// A report is dropped if its id uses the bits of the process number. No process assigns such an
/// id, and it would name an operation or queue of another process.
struct ProcessTranslation: Equatable {
  /// The number of the process.
  let number: Int
  /// The time by which the process's clock is ahead of the viewer's clock.
  var clockLead = Duration.zero

  // MARK: To the viewer

  /// Converts a moment of the process's clock to a moment of the viewer's clock.
  func merged(_ time: MonitorTime) -> MonitorTime {
    clockLead == .zero ? time : time - clockLead
  }

  /// Translates a greeting of the process for the viewer.
  func merged(_ hello: Hello) -> Hello {
    var merged = hello
    merged.anchor = self.merged(hello.anchor)
    merged.processStarted = self.merged(hello.processStarted)
    return merged
  }

  /// Translates an update of the process for the viewer.
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
    merged.matches?.ids = self.merged(update.matches?.ids ?? [])
    merged.logs = update.logs.compactMap(self.merged)
    merged.runOrders = update.runOrders.compactMap(self.merged)
    merged.groups?.groups = update.groups?.groups.compactMap(self.merged) ?? []
    return merged
  }

  /// Adds the number of the process to ids. Omits ids that no process assigns.
  func merged(_ ids: [OperationReport.ID]) -> [OperationReport.ID] {
    ids.compactMap { $0.numbered(number) }
  }

  private func merged(_ report: QueueReport) -> QueueReport? {
    report.id.numbered(number).map { report.identified(as: $0) }
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
    merged.errorText = report.errorText
    merged.foundExecuting = report.foundExecuting.map(self.merged)
    merged.cancellationCause = report.cancellationCause?.translated(
      operation: { $0.numbered(number) }, queue: { $0.numbered(number) })
    merged.givenKind = report.givenKind
    merged.attempts = report.attempts.map { self.merged($0) }
    merged.progress = report.progress.map { progress in
      OperationProgress(
        completed: progress.completed, total: progress.total, base: progress.base,
        since: self.merged(progress.since))
    }
    merged.statusText = report.statusText
    merged.memberQueue = report.memberQueue?.numbered(number)
    merged.delayEnd = report.delayEnd.map(self.merged)
    merged.qualityOfService = report.qualityOfService
    return merged
  }

  private func merged(_ attempts: RetryAttempts) -> RetryAttempts {
    var merged = attempts
    merged.attempts = attempts.attempts.compactMap { attempt in
      attempt.id.numbered(number).map {
        RetryAttempts.Attempt(
          id: $0, number: attempt.number, name: attempt.name, kind: attempt.kind,
          state: attempt.state, started: self.merged(attempt.started),
          finished: attempt.finished.map(self.merged))
      }
    }
    merged.pauseEnd = attempts.pauseEnd.map(self.merged)
    return merged
  }

  private func merged(_ log: OperationLog) -> OperationLog? {
    guard let operation = log.operation.numbered(number) else { return nil }
    var merged = log
    merged.operation = operation
    for index in log.lines.indices { merged.lines[index].time = self.merged(log.lines[index].time) }
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
      finished: run.finished.map(merged), kind: run.kind)
  }

  private func merged(_ order: RunOrder) -> RunOrder? {
    guard let queue = order.queue.numbered(number) else { return nil }
    var merged = order
    merged.queue = queue
    merged.executing = self.merged(order.executing)
    merged.ready = self.merged(order.ready)
    return merged
  }

  private func merged(_ group: OperationGroups.Group) -> OperationGroups.Group? {
    guard case .queue(let id) = group.key else { return group }
    guard let queue = id.numbered(number) else { return nil }
    var merged = group
    merged.key = .queue(queue)
    return merged
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
    for index in detail.reasons.indices {
      merged.reasons[index].operations = self.merged(detail.reasons[index].operations)
    }
    merged.awaitedOperations = self.merged(detail.awaitedOperations)
    merged.awaitedQueues = detail.awaitedQueues.compactMap { $0.numbered(number) }
    return merged
  }

  // MARK: From the viewer

  /// Returns the part of the viewer's interest that concerns this process. The row limit stays the
  /// same, because all rows of the viewer may belong to this process.
  func own(_ interest: Interest) -> Interest {
    var own = interest
    own.filter = interest.filter?.asked(of: number)
    own.operations = Set(self.own(interest.operations))
    own.subjects = Set(self.own(interest.subjects))
    own.detail = interest.detail.flatMap { self.own([$0]).first }
    if case .operations(let ids) = interest.logs { own.logs = .operations(Set(self.own(ids))) }
    own.runOrder = interest.runOrder.flatMap(self.own)
    own.search?.start = interest.search?.start.flatMap { self.own([$0]).first }
    own.graphs = Set(
      interest.graphs.compactMap { graph in
        self.own([graph.root]).first.map {
          Interest.Graph(root: $0, direction: graph.direction, limit: graph.limit)
        }
      })
    return own
  }

  /// Returns the request without the queues of other processes; `nil` if it names only those. A request for all
  /// queues names none.
  private func own(_ request: Interest.RunOrderRequest) -> Interest.RunOrderRequest? {
    if request.queues.isEmpty { return request }
    let queues = request.queues.filter { $0.processNumber == number }.map(\.withinProcess)
    if queues.isEmpty { return nil }
    var own = request
    own.queues = Set(queues)
    return own
  }

  /// Returns the ids that belong to this process, without the process's number.
  func own(_ ids: some Sequence<OperationReport.ID>) -> [OperationReport.ID] {
    ids.filter { $0.processNumber == number }.map(\.withinProcess)
  }
}
