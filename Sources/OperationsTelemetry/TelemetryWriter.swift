// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import MonitorProtocol
import Tracing

/// Reports updates to metrics and traces until the telemetry ends.
struct TelemetryWriter {
  private let control: TelemetryControl
  private var state: TelemetryState
  private var metrics: MetricWriter?
  private var spans: SpanWriter?

  init(
    control: TelemetryControl, since past: TelemetryPast, metrics: (any MetricsFactory)?,
    tracer: (any Tracer)?, parent: ServiceContext
  ) {
    self.control = control
    state = TelemetryState(since: past, reportsMetrics: metrics != nil)
    self.metrics = metrics.map { MetricWriter(to: $0) }
    spans = tracer.map { SpanWriter(to: $0, parent: parent) }
  }

  /// Whether all known changes have been reported, assuming that no further update arrives.
  var isSettled: Bool { state.isSettled }

  mutating func write(_ update: Update) {
    let (actions, runs) = state.take(update)
    perform(actions)
    guard spans != nil, !runs.isEmpty else { return }
    let clock = WallClock.now
    for run in runs where !control.isAbandoned { spans?.write(run, clock) }
  }

  /// Reports the changes that must be reported if no further update arrives.
  mutating func settle() { perform(state.settle()) }

  /// Reports the remaining changes of metrics, and destroys the gauges.
  mutating func end() { perform(state.end()) }

  private mutating func perform(_ actions: [TelemetryAction]) {
    for action in actions where !control.isAbandoned { metrics?.perform(action) }
  }
}
