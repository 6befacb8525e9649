// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The run of an operation that has ended.
struct TelemetryRun: Equatable {
  let report: OperationReport
  let started: MonitorTime
  let finished: MonitorTime
  /// The name of the operation's queue, in which ``LabelText`` has replaced characters; `nil` if
  /// the queue is no longer known.
  let queueName: String?
}

/// Converts updates of the monitor into changes of metrics and into runs for spans.
struct TelemetryState {
  private struct Queue {
    /// The name of the queue as the monitor reports it. `harmlessName` is the same name, in which
    /// ``LabelText`` has replaced characters.
    var name: String
    var harmlessName: String
    /// The counts of the queue at its last update.
    var counts: StateCounts
    var untimed = UntimedCount()
  }

  /// The activity before the telemetry started, which is not counted.
  private let past: TelemetryPast
  private var queues: [QueueReport.ID: Queue] = [:]
  private var labels = QueueLabels()
  private var kinds = TimerKinds()
  private var gauges: [Series: Int] = [:]
  /// The counters and timers that were reported for each label of a queue.
  private var series: [String: Set<Series>] = [:]
  /// The last ended operations that have been handled. They are kept because the monitor may report
  /// an operation again. The monitor does not report an operation again after ``knownLimit`` other
  /// operations have ended.
  private var known: Set<OperationReport.ID> = []
  private var lastKnown = LastOperations(limit: Self.knownLimit)
  private var isFirst = true

  static let knownLimit = 2 * TelemetryInterest.operationLimit

  private let reportsMetrics: Bool

  /// Creates a converter that has handled no update.
  ///
  /// - Parameters:
  ///   - past: The activity before the telemetry started, which is not counted.
  ///   - reportsMetrics: Whether the telemetry reports metrics. If it does not, nothing is counted.
  init(since past: TelemetryPast, reportsMetrics: Bool = true) {
    self.past = past
    self.reportsMetrics = reportsMetrics
  }

  /// Handles an update of the monitor.
  ///
  /// - Returns: The changes of metrics, and the runs that have ended since the last update, in the
  ///   order in which they started.
  mutating func take(_ update: Update) -> (actions: [TelemetryAction], runs: [TelemetryRun]) {
    noteNames(of: update.queues)
    guard reportsMetrics else {
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

  /// The number of elements in all collections of this state, for tests of its memory use.
  var keptCount: Int {
    queues.count + known.count + gauges.count + series.values.map(\.count).reduce(0, +)
  }

  /// Whether all known changes have been reported, assuming that no further update arrives.
  var isSettled: Bool { queues.values.allSatisfy { $0.untimed.isSettled } }

  /// Returns the changes that must be reported if no further update arrives.
  mutating func settle() -> [TelemetryAction] {
    var untimedCount = 0
    for id in queues.keys { untimedCount += queues[id]?.untimed.settle() ?? 0 }
    return untimedCount > 0 ? [.add(Series(.untimed), untimedCount)] : []
  }

  /// Returns the last changes, which destroy the gauges. Counters and timers are not destroyed,
  /// because the values of the metrics system may not have been read since they changed.
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
      // The monitor reports a queue without a name as "OperationQueue" with its id. In the metrics,
      // the label of each such queue is "OperationQueue", so that ids do not create new series.
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
      sums[Series(.failed, queue: label), default: 0] += max(0, report.counts.failed - old.failed)
      sums[Series(.completed, queue: label, detail: "cancelled"), default: 0] += cancelled
      queues[report.id]?.untimed.note(completed: finished + cancelled)
      queues[report.id]?.counts = report.counts
    }
    for (series, sum) in sums {
      // A new counter is reported even if its value is 0. Otherwise a metrics system that computes
      // differences would miss the first increase.
      let isNew = self.series[series.queue ?? "", default: []].insert(series).inserted
      if isNew || sum > 0 { actions.append(.add(series, sum)) }
    }
    return actions
  }

  /// Removes the queues that are deallocated, and counts untimed operations.
  ///
  /// - Returns: The number of further operations that have ended and that the monitor will never
  ///   report.
  private mutating func endReading(of live: Set<QueueReport.ID>) -> Int {
    var untimedCount = 0
    for id in queues.keys where !live.contains(id) {
      // The queue is deallocated, so the monitor reports no further operations of it.
      untimedCount += queues[id]?.untimed.settle() ?? 0
    }
    keepQueues(live)
    // No queue changed: this update came without a reading.
    guard queues.values.contains(where: { $0.untimed.hasNews }) else { return untimedCount }
    for id in queues.keys { untimedCount += queues[id]?.untimed.endReading() ?? 0 }
    return untimedCount
  }

  private func label(of queue: QueueReport.ID) -> String {
    queues[queue].map { labels.label(for: $0.harmlessName) } ?? QueueLabels.other
  }

  private mutating func dropLabel(_ label: String) -> [TelemetryAction] {
    kinds.drop(queue: label)
    return series.removeValue(forKey: label)?.map { .destroy($0) } ?? []
  }

  // MARK: Operations

  private mutating func takeRuns(of update: Update) -> [TelemetryRun] {
    var runs: [TelemetryRun] = []
    for report in update.changed where report.state.isOver && known.insert(report.id).inserted {
      // The monitor may report an operation again after it has rebuilt the list of operations that
      // it reports to the telemetry.
      if let oldest = lastKnown.add(report.id) { known.remove(oldest) }
      guard let finished = report.finished, finished >= past.end else { continue }
      if report.neverRan(recordedSince: past.end) {
        // The monitor has reported the operation, so the operation does not count as untimed.
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
    // The runs are sorted by start, because if two operations are short, the finish of a dependent may be
    // noted before the finish of its dependency.
    return runs.sorted { ($0.started, $0.report.id) < ($1.started, $1.report.id) }
  }

  private mutating func times(of run: TelemetryRun) -> [TelemetryAction] {
    let label = label(of: run.report.queue)
    let kind = kinds.label(for: run.report.kind, in: label)
    let runSeries = Series(.run, queue: label, detail: kind)
    series[label, default: []].insert(runSeries)
    guard let ready = run.report.becameReady else {
      return [.time(runSeries, run.finished - run.started)]
    }
    let waitSeries = Series(.wait, queue: label, detail: kind)
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
    // If the width of one queue is unknown, the sum for its label is omitted.
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
  /// Returns whether a cancelled operation certainly never ran: it never started, or it started
  /// only to finish at once. If recording began after the operation was added and became ready, the
  /// start of the operation may be missing although it ran.
  ///
  /// - Parameter beginning: The moment from which on every event is recorded.
  /// - Returns: Whether the operation was cancelled and certainly never ran.
  func neverRan(recordedSince beginning: MonitorTime) -> Bool {
    guard state == .cancelled else { return false }
    if let started {
      // If the time of the cancellation is unknown, the operation was cancelled before recording
      // began.
      return cancelRequested.map { $0 <= started } ?? (started >= beginning)
    }
    return [added, becameReady].contains { $0.map { $0 >= beginning } ?? false }
  }
}
