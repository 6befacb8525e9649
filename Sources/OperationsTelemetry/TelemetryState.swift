// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// One operation that ran and is over.
struct TelemetryRun: Equatable {
  let report: OperationReport
  let started: MonitorTime
  let finished: MonitorTime
  /// The name of its queue, harmless; `nil` where the queue is not known any more.
  let queueName: String?
}

/// Turns what a monitor tells into what metrics and traces are to be told.
struct TelemetryState {
  private struct Queue {
    /// As the monitor tells it, and harmless.
    var name: String
    var harmlessName: String
    /// What has been counted of it.
    var counts: StateCounts
    var untimed = UntimedCount()
  }

  /// What is not counted, since it was before the start.
  private let past: TelemetryPast
  private var queues: [QueueReport.ID: Queue] = [:]
  private var labels = QueueLabels()
  private var classes = TimerClasses()
  private var gauges: [Series: Int] = [:]
  /// The counters and timers of each label of a queue.
  private var series: [String: Set<Series>] = [:]
  /// Operations that are over and have been taken in. As many of them are told at once at most as the
  /// monitor keeps, and twice as many have to come before it has nothing to tell of the first any more.
  private var known: Set<OperationReport.ID> = []
  private var lastKnown = LastOperations(limit: Self.knownLimit)
  private var isFirst = true

  static let knownLimit = 2 * TelemetryInterest.operationLimit

  private let tellsMetrics: Bool

  /// - Parameters:
  ///   - past: What is not counted.
  ///   - tellsMetrics: Whether anybody wants the actions: without them nothing is counted.
  init(since past: TelemetryPast, tellsMetrics: Bool = true) {
    self.past = past
    self.tellsMetrics = tellsMetrics
  }

  /// Takes in an update.
  ///
  /// - Returns: What metrics are to be told, and the operations that ran and are over since the last
  ///   update, in the order in which they started.
  mutating func take(_ update: Update) -> (actions: [TelemetryAction], runs: [TelemetryRun]) {
    noteNames(of: update.queues)
    guard tellsMetrics else {
      defer { keepQueues(Set(update.queues.lazy.map(\.id))) }
      return ([], takeRuns(of: update))
    }
    var actions = count(update.queues)
    let runs = takeRuns(of: update)
    for run in runs { actions += times(of: run) }
    actions += changeGauges(to: gauges(of: update))
    let untimedCount = endReading(of: Set(update.queues.lazy.map(\.id)))
    if isFirst || untimedCount > 0 { actions.append(.add(Series(.untimed), untimedCount)) }
    isFirst = false
    return (actions, runs)
  }

  /// How many things it keeps: bounded by what the monitor keeps, and by the number of labels.
  var keptCount: Int {
    queues.count + known.count + gauges.count + series.values.map(\.count).reduce(0, +)
  }

  /// Whether there is nothing for ``settle()`` to tell.
  var isSettled: Bool { queues.values.allSatisfy { $0.untimed.isSettled } }

  /// What is still to be told where no update follows.
  mutating func settle() -> [TelemetryAction] {
    var untimedCount = 0
    for id in queues.keys { untimedCount += queues[id]?.untimed.settle() ?? 0 }
    return untimedCount > 0 ? [.add(Series(.untimed), untimedCount)] : []
  }

  /// What is to be told where nothing follows at all. Totals and timers stay: who collects them may not
  /// have come by since they changed.
  mutating func end() -> [TelemetryAction] {
    let gone = gauges.keys.map { TelemetryAction.destroy($0) }
    gauges = [:]
    return settle() + gone
  }

  // MARK: Queues

  private mutating func noteNames(of reports: [QueueReport]) {
    for report in reports where queues[report.id]?.name != report.name {
      var queue =
        queues[report.id] ?? Queue(name: "", harmlessName: "", counts: past.counts(of: report))
      queue.name = report.name
      // One that has no name has got one from its id: all of these are one to who looks from afar.
      let isNameless = report.name == "OperationQueue \(report.id.rawValue)"
      queue.harmlessName = isNameless ? "OperationQueue" : LabelText.harmless(report.name)
      queues[report.id] = queue
    }
  }

  private mutating func keepQueues(_ live: Set<QueueReport.ID>) {
    if live.count < queues.count { queues = queues.filter { live.contains($0.key) } }
  }

  // MARK: Counters

  private mutating func count(_ reports: [QueueReport]) -> [TelemetryAction] {
    let names = Set(reports.compactMap { queues[$0.id]?.harmlessName })
    var actions = labels.begin(with: names).flatMap { dropLabel($0) }
    var sums: [Series: Int] = [:]
    for report in reports {
      guard let old = queues[report.id]?.counts else { continue }
      let label = label(of: report.id)
      let finished = max(0, report.counts.finished - old.finished)
      let cancelled = max(0, report.counts.cancelled - old.cancelled)
      sums[Series(.added, queue: label), default: 0] += max(0, report.counts.total - old.total)
      sums[Series(.completed, queue: label, detail: "finished"), default: 0] += finished
      sums[Series(.completed, queue: label, detail: "cancelled"), default: 0] += cancelled
      queues[report.id]?.untimed.note(completed: finished + cancelled)
      queues[report.id]?.counts = report.counts
    }
    for (series, sum) in sums {
      // A counter that begins with its first value hides that from who looks at differences.
      let isNew = self.series[series.queue ?? "", default: []].insert(series).inserted
      if isNew || sum > 0 { actions.append(.add(series, sum)) }
    }
    return actions
  }

  /// Forgets the queues that are gone.
  ///
  /// - Returns: How many more operations are missing for good.
  private mutating func endReading(of live: Set<QueueReport.ID>) -> Int {
    var untimedCount = 0
    for id in queues.keys where !live.contains(id) {
      // Nothing of it is read any more.
      untimedCount += queues[id]?.untimed.settle() ?? 0
    }
    keepQueues(live)
    // What brings nothing of any queue was told without a reading.
    guard queues.values.contains(where: { $0.untimed.hasNews }) else { return untimedCount }
    for id in queues.keys { untimedCount += queues[id]?.untimed.endReading() ?? 0 }
    return untimedCount
  }

  private func label(of queue: QueueReport.ID) -> String {
    queues[queue].map { labels.label(for: $0.harmlessName) } ?? QueueLabels.other
  }

  private mutating func dropLabel(_ label: String) -> [TelemetryAction] {
    classes.drop(queue: label)
    return series.removeValue(forKey: label)?.map { .destroy($0) } ?? []
  }

  // MARK: Operations

  private mutating func takeRuns(of update: Update) -> [TelemetryRun] {
    var runs: [TelemetryRun] = []
    for report in update.changed where report.state.isOver && known.insert(report.id).inserted {
      // What the list no longer holds may come back, where that is made anew.
      if let oldest = lastKnown.add(report.id) { known.remove(oldest) }
      guard let finished = report.finished, finished >= past.end else { continue }
      if report.neverRan(recordedSince: past.end) {
        // It is not missed.
        queues[report.queue]?.untimed.noteReport()
        continue
      }
      guard let started = report.started else { continue }
      queues[report.queue]?.untimed.noteReport()
      runs.append(
        TelemetryRun(
          report: report, started: started, finished: finished,
          queueName: queues[report.queue]?.harmlessName))
    }
    // By start: what depends on an operation may be noted as finished before that is, where both are quick.
    return runs.sorted { ($0.started, $0.report.id) < ($1.started, $1.report.id) }
  }

  private mutating func times(of run: TelemetryRun) -> [TelemetryAction] {
    let label = label(of: run.report.queue)
    let name = classes.label(for: run.report.className, in: label)
    let runSeries = Series(.run, queue: label, detail: name)
    series[label, default: []].insert(runSeries)
    guard let ready = run.report.becameReady else {
      return [.time(runSeries, run.finished - run.started)]
    }
    let waitSeries = Series(.wait, queue: label, detail: name)
    series[label, default: []].insert(waitSeries)
    return [
      .time(waitSeries, max(.zero, run.started - ready)),
      .time(runSeries, run.finished - run.started),
    ]
  }

  // MARK: Gauges

  private func gauges(of update: Update) -> [Series: Int] {
    var gauges: [Series: Int] = [:]
    var unlimited: Set<String> = []
    for report in update.queues {
      let label = label(of: report.id)
      let counts = report.counts
      func add(_ value: Int, to metric: Metric, _ detail: String? = nil) {
        gauges[Series(metric, queue: label, detail: detail), default: 0] += value
      }
      add(counts.waiting, to: .operations, "waiting")
      add(counts.ready - counts.held, to: .operations, "ready")
      add(counts.held, to: .operations, "held")
      add(counts.executing, to: .operations, "executing")
      add(counts.cancelling, to: .cancelling)
      add(report.isSuspended ? 1 : 0, to: .suspended)
      if let width = report.width { add(width, to: .width) } else { unlimited.insert(label) }
    }
    // A sum of which a part is not known is none.
    for label in unlimited { gauges[Series(.width, queue: label)] = nil }
    for kind in TelemetryInterest.warningKinds {
      gauges[Series(.warnings, detail: kind.rawValue)] = 0
    }
    for warning in update.warnings {
      gauges[Series(.warnings, detail: warning.kind.rawValue), default: 0] += 1
    }
    return gauges
  }

  private mutating func changeGauges(to new: [Series: Int]) -> [TelemetryAction] {
    var actions: [TelemetryAction] = gauges.keys.filter { new[$0] == nil }.map { .destroy($0) }
    for (series, value) in new where gauges[series] != value {
      actions.append(.set(series, value))
    }
    gauges = new
    return actions
  }
}

extension OperationReport {
  /// Whether it was cancelled and started, if at all, only to finish at once. Where it was added and became
  /// ready before the beginning, or was not recorded from its own, its start may be missing although it ran.
  ///
  /// - Parameter beginning: From when on whatever happens is recorded.
  /// - Returns: Whether that is certain.
  func neverRan(recordedSince beginning: MonitorTime) -> Bool {
    guard state == .cancelled else { return false }
    if let started {
      // When that was is not known where it was before it was recorded.
      return cancelRequested.map { $0 <= started } ?? (started >= beginning)
    }
    return [added, becameReady].contains { $0.map { $0 >= beginning } ?? false }
  }
}
