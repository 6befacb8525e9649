// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OperationsTelemetry

/// The values that a metrics system has after it has received the actions of a `TelemetryState`.
struct Shown {
  var state: TelemetryState
  var gauges: [Series: Int] = [:]
  var counters: [Series: Int] = [:]
  var timers: [Series: [Duration]] = [:]
  private var second: Int64 = 0

  /// Creates a telemetry state, and applies an update with the queues that exist at the beginning.
  init(since past: TelemetryPast = TelemetryPast(), first: [QueueReport] = []) {
    state = TelemetryState(since: past)
    take(first)
  }

  @discardableResult
  mutating func take(
    _ queues: [QueueReport], _ operations: [OperationReport] = [],
    removed: [OperationReport.ID] = [], warnings: [MonitorWarning] = []
  ) -> [TelemetryRun] {
    second += 1
    var update = Update(
      time: MonitorTime(nanoseconds: second * 1_000_000_000), queues: queues, changed: operations,
      removed: removed)
    update.warnings = warnings
    let (actions, runs) = state.take(update)
    perform(actions)
    return runs
  }

  mutating func settle() { perform(state.settle()) }
  mutating func end() { perform(state.end()) }

  private mutating func perform(_ actions: [TelemetryAction]) {
    for action in actions {
      switch action {
      case .set(let series, let value): gauges[series] = value
      case .add(let series, let amount): counters[series, default: 0] += amount
      case .time(let series, let duration): timers[series, default: []].append(duration)
      case .destroy(let series):
        #expect(
          gauges[series] != nil || counters[series] != nil || timers[series] != nil,
          "\(series) is destroyed and was never there")
        gauges[series] = nil
        counters[series] = nil
        timers[series] = nil
      }
    }
  }

  func completed(_ queue: String, _ state: String = "finished") -> Int? {
    counters[Series(.completed, queue: queue, detail: state)]
  }

  var untimed: Int? { counters[Series(.untimed)] }

  var seriesCount: Int { gauges.count + counters.count + timers.count }
}

/// Returns a report of a queue with these counts.
func queue(
  _ id: UInt64, _ name: String, waiting: Int = 0, ready: Int = 0, held: Int = 0, executing: Int = 0,
  finished: Int = 0, failed: Int = 0, cancelled: Int = 0, width: Int? = 1, isSuspended: Bool = false
) -> QueueReport {
  QueueReport(
    id: QueueReport.ID(id), name: name,
    counts: StateCounts(
      waiting: waiting, ready: ready, held: held, executing: executing, finished: finished,
      failed: failed, cancelled: cancelled,
      total: waiting + ready + executing + finished + cancelled),
    width: width, isSuspended: isSuspended)
}

/// Returns a finished operation. By default it is ready at 1 s, started at 3 s and finished at 6 s.
func operation(
  _ id: UInt64, in queue: UInt64 = 1, className: String = "Job",
  state: OperationState = .finished, added: Int64? = nil, ready: Int64? = 1, started: Int64? = 3,
  finished: Int64? = 6, cancelRequested: Int64? = nil
) -> OperationReport {
  func time(_ seconds: Int64?) -> MonitorTime? {
    seconds.map { MonitorTime(nanoseconds: $0 * 1_000_000_000) }
  }
  return OperationReport(
    id: OperationReport.ID(id), name: "", className: className, queue: QueueReport.ID(queue),
    state: state, added: time(added), becameReady: time(ready), started: time(started),
    cancelRequested: time(cancelRequested), finished: time(finished))
}
