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
  private let open: OpenSpans?

  init(
    control: TelemetryControl, since past: TelemetryPast, metrics: (any MetricsFactory)?,
    tracer: (any Tracer)?, parent: ServiceContext, open: OpenSpans? = nil
  ) {
    self.control = control
    state = TelemetryState(since: past, reportsMetrics: metrics != nil)
    self.metrics = metrics.map { MetricWriter(to: $0) }
    spans = tracer.map { SpanWriter(to: $0, parent: parent, open: open) }
    self.open = open
  }

  /// Whether all known changes have been reported, assuming that no further update arrives.
  var isSettled: Bool { state.isSettled && open?.isSettled ?? true }

  mutating func write(_ update: Update) {
    let (actions, runs) = state.take(update)
    perform(actions)
    if spans != nil, !runs.isEmpty {
      let clock = WallClock.now
      for run in runs where !control.isAbandoned { spans?.write(run, clock) }
    }
    open?.closeUnreported()
  }

  /// Reports the changes that must be reported if no further update arrives.
  mutating func settle() {
    perform(state.settle())
    open?.closeUnreported(isLate: true)
  }

  /// Reports the remaining changes of metrics, destroys the gauges, and ends the open spans.
  mutating func end() {
    perform(state.end())
    open?.closeAll()
  }

  private mutating func perform(_ actions: [TelemetryAction]) {
    for action in actions where !control.isAbandoned { metrics?.perform(action) }
  }
}
