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
  }

  /// What is not counted, since it was before the start.
  private let past: TelemetryPast
  private var queues: [QueueReport.ID: Queue] = [:]
  private var labels = QueueLabels()
  private var classes = TimerClasses()
  private var gauges: [Series: Int] = [:]
  /// The counters and timers of each label of a queue.
  private var series: [String: Set<Series>] = [:]
  /// Operations that are over and have been taken in, as long as the monitor keeps them.
  private var known: Set<OperationReport.ID> = []
  private var untimed = UntimedCount()
  private var isFirst = true

  /// - Parameter past: What is not counted.
  init(since past: TelemetryPast) { self.past = past }

  /// Takes in an update.
  ///
  /// - Returns: What metrics are to be told, and the operations that ran and are over since the last
  ///   update, in the order in which they started.
  mutating func take(_ update: Update) -> (actions: [TelemetryAction], runs: [TelemetryRun]) {
    var actions = noteQueues(update.queues)
    let runs = takeRuns(of: update)
    for run in runs { actions += times(of: run) }
    actions += changeGauges(to: gauges(of: update))
    let untimedCount = untimed.endUpdate()
    if isFirst || untimedCount > 0 { actions.append(.add(Series(.untimed), untimedCount)) }
    let live = Set(update.queues.lazy.map(\.id))
    if live.count < queues.count { queues = queues.filter { live.contains($0.key) } }
    isFirst = false
    return (actions, runs)
  }

  /// How many things it keeps: bounded by what the monitor keeps, and by the number of labels.
  var keptCount: Int {
    queues.count + known.count + gauges.count + series.values.map(\.count).reduce(0, +)
  }

  /// Whether there is nothing for ``settle()`` to tell.
  var isSettled: Bool { untimed.isSettled }

  /// What is still to be told where no update follows.
  mutating func settle() -> [TelemetryAction] {
    let untimedCount = untimed.settle()
    return untimedCount > 0 ? [.add(Series(.untimed), untimedCount)] : []
  }

  // MARK: Counters

  private mutating func noteQueues(_ reports: [QueueReport]) -> [TelemetryAction] {
    for report in reports where queues[report.id]?.name != report.name {
      // One that the monitor knows from the beginning and that did not exist then is gone: others have
      // watched it.
      let counts = past.counts[report.id] ?? (isFirst ? report.counts : StateCounts())
      var queue = queues[report.id] ?? Queue(name: "", harmlessName: "", counts: counts)
      queue.name = report.name
      // One that has no name has got one from its id: all of these are one to who looks from afar.
      let isNameless = report.name == "OperationQueue \(report.id.rawValue)"
      queue.harmlessName = isNameless ? "OperationQueue" : LabelText.harmless(report.name)
      queues[report.id] = queue
    }
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
      untimed.note(completed: finished + cancelled)
      queues[report.id]?.counts = report.counts
    }
    for (series, sum) in sums {
      // A counter that begins with its first value hides that from who looks at differences.
      let isNew = self.series[series.queue ?? "", default: []].insert(series).inserted
      if isNew || sum > 0 { actions.append(.add(series, sum)) }
    }
    return actions
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
    known.subtract(update.removed)
    var runs: [TelemetryRun] = []
    for report in update.changed where report.state.isOver && known.insert(report.id).inserted {
      guard let finished = report.finished, finished >= past.end else { continue }
      if report.wasCancelledBeforeItStarted {
        // It never ran, and is not missed.
        untimed.noteReport()
        continue
      }
      guard let started = report.started else { continue }
      untimed.noteReport()
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
  /// Whether it was started, if at all, only to finish at once.
  var wasCancelledBeforeItStarted: Bool {
    guard state == .cancelled, let cancelRequested else { return false }
    return started.map { cancelRequested <= $0 } ?? true
  }
}
