// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import InMemoryTracing
import MetricsTestKit
import Operations
import OperationsTelemetry
import TestSupport
import Testing
import Tracing

/// From real queues to real metrics systems. What has happened is told when the telemetry stops.
@Suite(.oneAtATime) struct TelemetryTests {
  private let metrics = TestMetrics()

  private func total(_ label: String, _ dimensions: (String, String)...) -> Int64 {
    metrics.counterTotal(label: label, dimensions: dimensions)
  }

  private func gauge(_ label: String, _ dimensions: (String, String)...) -> Double? {
    try? metrics.expectGauge(label, dimensions).lastValue
  }

  private func makeQueue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }

  @Test func gaugesAndTotalsAreThoseOfTheQueue() {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let gate = Gate()
    let queue = makeQueue("gauged")
    queue.maxConcurrentOperationCount = 2
    for _ in 0..<3 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    let held = (0..<5).map { _ in BlockOperation { gate.pass() } }
    let waiting = BlockOperation {}
    waiting.addDependency(held[0])
    queue.addOperations(held + [waiting], waitUntilFinished: false)
    gate.waitForArrivals(2)
    telemetry.stop()
    let states = ["waiting", "ready", "held", "executing"].map { state in
      gauge("opq_operations", ("queue", "gauged"), ("state", state))
    }
    #expect(states == [1, 3, 0, 2])
    #expect(gauge("opq_queue_width", ("queue", "gauged")) == 2)
    #expect(gauge("opq_queues_suspended", ("queue", "gauged")) == 0)
    #expect(total("opq_operations_added_total", ("queue", "gauged")) == 9)
    #expect(
      total("opq_operations_completed_total", ("queue", "gauged"), ("state", "finished")) == 3)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func whatASuspendedQueueHoldsIsHeldAndWhatWasCancelledIsCounted() {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("suspended")
    queue.isSuspended = true
    let operations = (0..<4).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[0].cancel()
    telemetry.stop()
    #expect(gauge("opq_operations", ("queue", "suspended"), ("state", "held")) == 4)
    #expect(gauge("opq_operations_cancelling", ("queue", "suspended")) == 1)
    #expect(gauge("opq_queues_suspended", ("queue", "suspended")) == 1)
    let second = OperationTelemetry.start(metrics: metrics, tracer: nil)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    second.stop()
    #expect(gauge("opq_queues_suspended", ("queue", "suspended")) == 0)
    let cancelled = total(
      "opq_operations_completed_total", ("queue", "suspended"), ("state", "cancelled"))
    #expect(cancelled == 1)
  }

  @Test func waitsAndRunsAreTimedByQueueAndClass() throws {
    final class Encode: Operation, @unchecked Sendable {}
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("timed")
    for _ in 0..<10 { queue.addOperation(Encode()) }
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    for label in ["opq_operation_wait", "opq_operation_run"] {
      let encode = try metrics.expectTimer(label, [("queue", "timed"), ("class", "Encode")])
      #expect(encode.values.count == 10)
      #expect(encode.values.allSatisfy { $0 >= 0 && $0 < 60_000_000_000 })
      let block = try metrics.expectTimer(label, [("queue", "timed"), ("class", "BlockOperation")])
      #expect(block.values.count == 1)
    }
  }

  @Test func everyOperationIsCountedUnderLoadAndTimedOrCountedAsUntimed() {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("quick")
    for _ in 0..<10 {
      for _ in 0..<10_000 { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
    }
    telemetry.stop()
    #expect(total("opq_operations_completed_total", ("queue", "quick")) == 100_000)
    let timed = metrics.timers(label: "opq_operation_run").reduce(0) { $0 + $1.values.count }
    #expect(timed > 0)
    #expect(Int64(timed) + total("opq_operations_untimed_total") == 100_000)
  }

  @Test func aHostileNameOfAQueueIsHarmless() {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("\u{1B}[2J\"} 1\n" + String(repeating: "x", count: 100_000))
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    let labels = metrics.counters(label: "opq_operations_added_total").flatMap(\.dimensions)
      .map(\.1).filter { $0.contains("xxx") }
    #expect(labels.count == 1)
    #expect(labels.first?.hasPrefix("\u{FFFD}[2J'} 1\u{FFFD}xxx") == true)
    #expect(labels.first?.unicodeScalars.count == 100)
  }

  // MARK: Beginning and end

  @Test func valuesComeByThemselvesAndGoWithTheQueue() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(1))
    let executing = #"opq_operations{queue="watched",state="executing"}"#
    let gate = Gate()
    do {
      let queue = makeQueue("watched")
      queue.addOperation { gate.pass() }
      metrics.wait(for: executing, toBe: 1)
      gate.open()
      metrics.wait(for: executing, toBe: 0)
      queue.waitUntilAllOperationsAreFinished()
    }
    metrics.wait(for: executing, toBe: nil)
    telemetry.stop()
    let completed = #"opq_operations_completed_total{queue="watched",state="finished"}"#
    #expect(metrics.values.value[completed] == 1)
  }

  @Test func whatIsUntimedIsToldAlsoWhereNothingFollows() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("burst")
    for _ in 0..<20_000 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    let timers = #"opq_operation_run{queue="burst",class="BlockOperation"}"#
    metrics.values.wait(for: "20,000 operations to be timed or counted as untimed") {
      $0[timers, default: 0] + $0["opq_operations_untimed_total", default: 0] == 20_000
    }
    telemetry.stop()
  }

  @Test func aDeadlockIsSeenAsAWarning() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(10))
    let queue = makeQueue("deadlocked")
    let (first, second) = (BlockOperation {}, BlockOperation {})
    first.addDependency(second)
    second.addDependency(first)
    queue.addOperations([first, second], waitUntilFinished: false)
    metrics.wait(for: #"opq_warnings{kind="cycle"}"#, toBe: 1)
    first.removeDependency(second)
    metrics.wait(for: #"opq_warnings{kind="cycle"}"#, toBe: 0)
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
  }

  @Test func stoppingTwiceIsHarmlessAndNothingIsToldAfterwards() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("stopped")
    queue.addOperation {}
    await queue.waitForAll()
    await telemetry.stop()
    await telemetry.stop()
    queue.addOperation {}
    await queue.waitForAll()
    await telemetry.stop()
    #expect(total("opq_operations_completed_total", ("queue", "stopped")) == 1)
  }

  @Test func twoAtATimeEachTellEverything() {
    let others = TestMetrics()
    let first = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let second = OperationTelemetry.start(metrics: others, tracer: nil)
    let queue = makeQueue("twice")
    for _ in 0..<20 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    first.stop()
    second.stop()
    for metrics in [metrics, others] {
      let completed = metrics.counterTotal(
        label: "opq_operations_completed_total", dimensions: [("queue", "twice")])
      #expect(completed == 20)
      #expect(metrics.timers(label: "opq_operation_run").first?.values.count == 20)
    }
  }

  @Test func whatOneHasCountedTheNextOneDoesNotCountAgain() {
    let queue = makeQueue("again")
    // Keeps the monitor going, which tells whoever comes of what it has kept.
    let other = OperationTelemetry.start(metrics: WatchedMetrics(), tracer: nil)
    for round in 1...5 {
      let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
      queue.addOperation {}
      queue.waitUntilAllOperationsAreFinished()
      telemetry.stop()
      #expect(total("opq_operations_completed_total", ("queue", "again")) == round)
      let timers = metrics.timers(label: "opq_operation_run", dimensions: [("queue", "again")])
      #expect(timers.first?.values.count == round)
    }
    other.stop()
  }

  @Test func whatNobodyHadReadAtTheStartIsNotCounted() {
    // Has read a moment ago, and will not for a second.
    let other = OperationTelemetry.start(metrics: WatchedMetrics(), tracer: nil)
    let queue = makeQueue("unread")
    for _ in 0..<5 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    telemetry.stop()
    #expect(
      metrics.counters(label: "opq_operations_added_total").contains { counter in
        counter.dimensions.contains { $0.1 == "unread" }
      })
    #expect(total("opq_operations_added_total", ("queue", "unread")) == 0)
    #expect(total("opq_operations_completed_total", ("queue", "unread")) == 0)
    #expect(metrics.timers(label: "opq_operation_run", dimensions: [("queue", "unread")]).isEmpty)
    #expect(total("opq_operations_untimed_total") == 0)
    other.stop()
  }

  @Test func aCancelledRunTellsEverythingAndEnds() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let task = Task { await telemetry.run() }
    let queue = makeQueue("service")
    queue.addOperation {}
    await queue.waitForAll()
    task.cancel()
    await task.value
    #expect(total("opq_operations_completed_total", ("queue", "service")) == 1)
  }

  @Test func whatIsReleasedWithoutBeingStoppedEnds() {
    let log = EventLog<String>()
    do {
      let metrics = WatchedMetrics(probe: DeinitProbe("released", in: log))
      let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
      metrics.wait(for: "opq_operations_untimed_total", toBe: 0)
      withExtendedLifetime(telemetry) {}
    }
    log.wait(for: "released")
  }

  @Test func theTasksSystemsAreTheDefault() throws {
    let tracer = InMemoryTracer()
    let telemetry = withMetricsFactory(metrics) {
      withTracer(tracer) { OperationTelemetry.start() }
    }
    let queue = makeQueue("default")
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    #expect(total("opq_operations_completed_total", ("queue", "default")) == 1)
    #expect(tracer.finishedSpans.count == 1)
  }

  @Test func withoutSystemsThereIsNothingToEnd() async {
    let telemetry = OperationTelemetry.start()
    await telemetry.stop()
    await telemetry.run()
    await OperationTelemetry.start(metrics: nil, tracer: nil).run()
  }
}
