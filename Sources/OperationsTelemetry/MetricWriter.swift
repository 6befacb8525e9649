// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import MonitorProtocol

/// Reports values to a metrics system. Each metric is created once and kept.
struct MetricWriter {
  private let factory: any MetricsFactory
  private var gauges: [Series: Gauge] = [:]
  private var counters: [Series: Counter] = [:]
  private var timers: [Series: CoreMetrics.Timer] = [:]

  init(to factory: any MetricsFactory) { self.factory = factory }

  mutating func perform(_ action: TelemetryAction) {
    switch action {
    case .set(let series, let value): gauge(series).record(value)
    case .add(let series, let amount): counter(series).increment(by: amount)
    case .time(let series, let duration):
      timer(series).recordNanoseconds(duration.saturatedNanoseconds)
    case .destroy(let series):
      gauges.removeValue(forKey: series)?.destroy()
      counters.removeValue(forKey: series)?.destroy()
      timers.removeValue(forKey: series)?.destroy()
    }
  }

  private mutating func gauge(_ series: Series) -> Gauge {
    if let gauge = gauges[series] { return gauge }
    let gauge = Gauge(
      label: series.metric.rawValue, dimensions: series.dimensions, factory: factory)
    gauges[series] = gauge
    return gauge
  }

  private mutating func counter(_ series: Series) -> Counter {
    if let counter = counters[series] { return counter }
    let counter = Counter(
      label: series.metric.rawValue, dimensions: series.dimensions, factory: factory)
    counters[series] = counter
    return counter
  }

  private mutating func timer(_ series: Series) -> CoreMetrics.Timer {
    if let timer = timers[series] { return timer }
    let timer = CoreMetrics.Timer(
      label: series.metric.rawValue, dimensions: series.dimensions, factory: factory)
    timers[series] = timer
    return timer
  }
}
