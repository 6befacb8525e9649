// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import InMemoryTracing
import MonitorProtocol
import TestSupport
import Testing
import Tracing

@testable import OperationsTelemetry

@Suite struct TelemetryWriterTests {
  private let control = TelemetryControl()
  private let tracer = InMemoryTracer()

  private func write(
    to metrics: WatchedMetrics, then end: (inout TelemetryWriter) -> Void
  ) -> [String: Int64] {
    var writer = TelemetryWriter(
      control: control, since: TelemetryPast(), metrics: metrics, tracer: tracer, parent: .topLevel)
    writer.write(
      Update(
        time: MonitorTime(nanoseconds: 1), queues: [queue(1, "a", finished: 9)],
        changed: (1...5).map { operation($0) }))
    end(&writer)
    return metrics.values.value
  }

  @Test func stoppingReportsTheRestAndRemovesTheGauges() {
    let values = write(to: WatchedMetrics()) { $0.end() }
    #expect(values[#"opq_operation_run{queue="a",kind="Job"}"#] == 5)
    #expect(values["opq_operations_untimed_total"] == 4)
    #expect(!values.keys.contains { $0.hasPrefix("opq_queue") || $0.hasPrefix("opq_warnings") })
    #expect(tracer.finishedSpans.count == 5)
  }

  @Test func abandoningStopsTheReports() {
    let run = #"opq_operation_run{queue="a",kind="Job"}"#
    let metrics = WatchedMetrics { [control] series in if series == run { control.abandon() } }
    let values = write(to: metrics) { writer in
      writer.settle()
      writer.end()
    }
    #expect(values[run] == 1)
    #expect(values["opq_operations_untimed_total", default: 0] == 0)
    #expect(tracer.finishedSpans.isEmpty)
  }
}
