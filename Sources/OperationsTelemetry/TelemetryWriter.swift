// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import MonitorProtocol
import Tracing

/// Tells metrics and traces what updates bring, until nobody wants to hear it any more.
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
    state = TelemetryState(since: past, tellsMetrics: metrics != nil)
    self.metrics = metrics.map { MetricWriter(to: $0) }
    spans = tracer.map { SpanWriter(to: $0, parent: parent) }
  }

  /// Whether there is nothing for ``settle()`` to tell.
  var isSettled: Bool { state.isSettled }

  mutating func write(_ update: Update) {
    let (actions, runs) = state.take(update)
    perform(actions)
    guard spans != nil, !runs.isEmpty else { return }
    let clock = WallClock.now
    for run in runs where !control.isAbandoned { spans?.write(run, clock) }
  }

  /// Tells what is left where no update follows.
  mutating func settle() { perform(state.settle()) }

  /// Tells what is left, and that nothing more will be.
  mutating func end() { perform(state.end()) }

  private mutating func perform(_ actions: [TelemetryAction]) {
    for action in actions where !control.isAbandoned { metrics?.perform(action) }
  }
}
