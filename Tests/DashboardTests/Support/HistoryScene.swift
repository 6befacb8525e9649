// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

@testable import Dashboard

/// The state of ``Scene`` with a history: runs of operations, events, and rates.
enum HistoryScene {
  /// Returns a dashboard that has received the state of ``Scene`` and the finished operations of
  /// the two minutes before.
  static func dashboard(columns: Int = 80, rows: Int = 24) -> Dashboard {
    var dashboard = Dashboard(configuration: .init(title: "tiles"))
    dashboard.take(.resized(Size(columns: columns, rows: rows)))
    dashboard.take(.monitor(.hello(Scene.hello)))
    var update = Scene.update
    update.times = times
    // The number of operations that had finished at each second, computed backwards from the counts
    // in ``Scene``.
    var totals = [Scene.queues[1].counts.finished]
    for second in 1...90 {
      totals.append(totals[second - 1] - second * 37 % 11 * (second / 30 + 1) / 3)
    }
    for second in (0...90).reversed() {
      update.time = Scene.seconds(102 - Double(second))
      update.queues[1].counts.finished = totals[second]
      dashboard.take(.tick(update.time))
      dashboard.take(.monitor(.update(update)))
    }
    return dashboard
  }

  static let times = TimeStatistics(
    wait: Percentiles(
      count: 412, p50: .milliseconds(240), p90: .milliseconds(1_300), p99: .milliseconds(4_120)),
    run: Percentiles(
      count: 412, p50: .microseconds(31), p90: .milliseconds(310), p99: .milliseconds(1_204)))

  /// The runs of operations in the last half minute. The queue cpu is busy, the queue io has
  /// pauses, and one run was cancelled.
  static let runs: RecentRuns = {
    var runs: [OperationRun] = []
    func add(_ id: Int, _ queue: QueueReport.ID, _ title: String, _ start: Double, _ end: Double?) {
      let state: OperationState =
        end == nil ? (id == 1077 ? .cancelling : .executing) : id == 1033 ? .cancelled : .finished
      runs.append(
        OperationRun(
          id: OperationReport.ID(id), title: title, queue: queue, state: state,
          started: Scene.seconds(start), finished: end.map(Scene.seconds), kind: kind(of: title)))
    }
    for index in 0..<30 {
      let start = 66 + Double(index) * 0.9
      add(800 + index, Scene.cpu, "compute tile", start, start + 0.85)
    }
    add(1080, Scene.cpu, "resample landuse", 98.1, nil)
    add(1070, Scene.cpu, "resample everything", 70, 89.5)
    add(1077, Scene.cpu, "resample dem", 95, nil)
    add(1033, Scene.io, "download tiles z=15 antarctica", 74, 80.5)
    add(1034, Scene.io, "HEAD", 82, 82.1)
    add(1042, Scene.io, "download tiles z=14 eu", 89.6, nil)
    add(1051, Scene.io, "download tiles z=14 us", 93.98, nil)
    add(1095, Scene.index, "漢字 index", 101.096, nil)
    return RecentRuns(runs: runs.sorted { $0.started < $1.started }, count: runs.count)
  }()

  /// Returns the kind of a run with this title.
  private static func kind(of title: String) -> String {
    let kinds = [
      "compute": "ComputeOperation", "resample": "ResampleOperation", "download": "Download",
      "HEAD": "Head",
    ]
    return kinds.first { title.hasPrefix($0.key) }?.value ?? "IndexWriter"
  }

  /// Changes of the states of operations, in the order of their times.
  static let events: [OperationEvent] = {
    var events: [OperationEvent] = []
    func add(
      _ time: Double, _ id: Int, _ title: String, _ queue: QueueReport.ID, _ old: OperationState?,
      _ new: OperationState
    ) {
      events.append(
        OperationEvent(
          time: Scene.seconds(time), operation: OperationReport.ID(id), title: title, queue: queue,
          old: old, new: new))
    }
    for index in 0..<20 {
      add(80 + Double(index) / 4, 800 + index, "compute tile", Scene.cpu, .ready, .executing)
      add(80.2 + Double(index) / 4, 800 + index, "compute tile", Scene.cpu, .executing, .finished)
    }
    add(93.98, 1051, "download tiles z=14 us", Scene.io, .ready, .executing)
    add(94, 1300, "e\u{301}tude \u{1B}[2J", Scene.io, nil, .waiting)
    add(95, 1077, "resample dem", Scene.cpu, .ready, .executing)
    add(95.5, 1301, "BlockOperation", Scene.net, nil, .held)
    add(97.8, 1077, "resample dem", Scene.cpu, .executing, .cancelling)
    add(98.1, 1080, "resample landuse", Scene.cpu, .ready, .executing)
    add(
      99.9, 1033, "download tiles z=15 antarctica and the islands", Scene.io, .cancelling,
      .cancelled)
    add(101.096, 1095, "漢字 index", Scene.index, nil, .executing)
    return events
  }()

  /// Sends the dashboard the history that its current view needs.
  static func report(_ dashboard: inout Dashboard, skipped: Int = 0) {
    var update = Scene.update
    update.times = times
    if dashboard.connection.interest.timeline != nil { update.runs = runs }
    if dashboard.connection.interest.eventLimit > 0 {
      update.events = EventNews(events: Array(events.prefix(30)), isBeginning: true)
      dashboard.take(.monitor(.update(update)))
      update.events = EventNews(events: Array(events.dropFirst(30)), skippedCount: skipped)
    }
    dashboard.take(.monitor(.update(update)))
  }
}
