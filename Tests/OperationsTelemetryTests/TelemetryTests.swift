// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import InMemoryTracing
import MetricsTestKit
import Operations
import OperationsTelemetry
import TestSupport
import Testing
import Tracing

/// From real queues to real metrics systems and tracers. Each test stops its telemetry before it looks,
/// which tells all that has happened.
@Suite(.oneAtATime) struct TelemetryTests {
  @Test func gaugesAndTotalsAreThoseOfTheQueue() throws {
    let metrics = TestMetrics()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let gate = Gate()
    let queue = OperationQueue()
    queue.name = "gauged"
    queue.maxConcurrentOperationCount = 2
    for _ in 0..<3 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    let held = (0..<5).map { _ in BlockOperation { gate.pass() } }
    let waiting = BlockOperation {}
    waiting.addDependency(held[0])
    queue.addOperations(held + [waiting], waitUntilFinished: false)
    gate.waitForArrivals(2)
    telemetry.stop()
    let states = try ["waiting", "ready", "held", "executing"].map { state in
      try metrics.expectGauge("opq_operations", [("queue", "gauged"), ("state", state)]).lastValue
    }
    #expect(states == [1, 3, 0, 2])
    #expect(try metrics.expectGauge("opq_queue_width", [("queue", "gauged")]).lastValue == 2)
    #expect(
      metrics.counterTotal(label: "opq_operations_added_total", dimensions: [("queue", "gauged")])
        == 9)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }
}
