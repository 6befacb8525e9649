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

/// Tests of telemetry with real queues and metrics systems. All events have been reported when the
/// telemetry has stopped.
@Suite(.oneAtATime) struct TelemetryTests {
  private let metrics = TestMetrics()

  private func total(_ label: String, _ dimensions: (String, String)...) -> Int64 {
    metrics.counterTotal(label: label, dimensions: dimensions)
  }

  private func makeQueue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }

  @Test(arguments: [Duration.seconds(Int64.min) * 3, .seconds(-1), .seconds(Int64.max) * 3])
  func anyIntervalIsAccepted(_ interval: Duration) {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil, interval: interval)
    let queue = makeQueue("odd interval")
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    #expect(metrics.values.value[#"opq_operations_added_total{queue="odd interval"}"#] == 1)
  }

  @Test func gaugesAndTotalsMatchTheQueue() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(1))
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
    for (state, count) in [("waiting", 1), ("ready", 3), ("held", 0), ("executing", 2)] {
      metrics.wait(for: #"opq_operations{queue="gauged",state="\#(state)"}"#, toBe: Int64(count))
    }
    metrics.wait(for: #"opq_queue_width{queue="gauged"}"#, toBe: 2)
    metrics.wait(for: #"opq_queues_suspended{queue="gauged"}"#, toBe: 0)
    telemetry.stop()
    let completed = #"opq_operations_completed_total{queue="gauged",state="finished"}"#
    #expect(metrics.values.value[#"opq_operations_added_total{queue="gauged"}"#] == 9)
    #expect(metrics.values.value[completed] == 3)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func heldAndCancelledOperationsOfASuspendedQueueAreCounted() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(1))
    let queue = makeQueue("suspended")
    queue.isSuspended = true
    let operations = (0..<4).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: false)
    operations[0].cancel()
    metrics.wait(for: #"opq_operations{queue="suspended",state="held"}"#, toBe: 4)
    metrics.wait(for: #"opq_operations_cancelling{queue="suspended"}"#, toBe: 1)
    metrics.wait(for: #"opq_queues_suspended{queue="suspended"}"#, toBe: 1)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    metrics.wait(for: #"opq_queues_suspended{queue="suspended"}"#, toBe: 0)
    telemetry.stop()
    let cancelled = #"opq_operations_completed_total{queue="suspended",state="cancelled"}"#
    #expect(metrics.values.value[cancelled] == 1)
  }

  @Test func anOperationCancelledBeforeTheStartIsNeitherTimedNorUntimed() {
    let queue = makeQueue("late")
    queue.isSuspended = true
    let operation = BlockOperation {}
    queue.addOperation(operation)
    operation.cancel()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    #expect(
      total("opq_operations_completed_total", ("queue", "late"), ("state", "cancelled")) == 1)
    #expect(total("opq_operations_untimed_total") == 0)
    #expect(metrics.timers(label: "opq_operation_run").isEmpty)
  }

  @Test func aRenamedQueueReportsNothingTwice() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(1))
    let queue = makeQueue("before")
    for _ in 0..<20 {
      for _ in 0..<500 { queue.addOperation {} }
      queue.waitUntilAllOperationsAreFinished()
    }
    let before = #"{queue="before",kind="BlockOperation"}"#
    metrics.values.wait(for: "10,000 operations to be timed or counted as untimed") {
      $0["opq_operation_run" + before, default: 0] + $0["opq_operations_untimed_total", default: 0]
        == 10_000
    }
    queue.name = "after"
    metrics.wait(for: #"opq_queues_suspended{queue="before"}"#, toBe: nil)
    metrics.wait(for: #"opq_queues_suspended{queue="after"}"#, toBe: 0)
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    let values = metrics.values.value
    let after = #"{queue="after",kind="BlockOperation"}"#
    let timed = values["opq_operation_run" + before, default: 0]
    #expect(timed + values["opq_operations_untimed_total", default: 0] == 10_000)
    #expect(values["opq_operation_run" + after] == 1)
    #expect(values[#"opq_operations_completed_total{queue="before",state="finished"}"#] == 10_000)
    #expect(values[#"opq_operations_completed_total{queue="after",state="finished"}"#] == 1)
  }

  @Test func waitsAndRunsAreTimedByQueueAndKind() throws {
    final class Encode: Operation, @unchecked Sendable {}
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("timed")
    for _ in 0..<10 { queue.addOperation(Encode()) }
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    for label in ["opq_operation_slot_wait", "opq_operation_run"] {
      let encode = try metrics.expectTimer(label, [("queue", "timed"), ("kind", "Encode")])
      #expect(encode.values.count == 10)
      #expect(encode.values.allSatisfy { $0 >= 0 && $0 < 60_000_000_000 })
      let block = try metrics.expectTimer(label, [("queue", "timed"), ("kind", "BlockOperation")])
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

  @Test func aHostileQueueNameIsEscapedAndCut() {
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

  @Test func gaugesAppearAndDisappearWithTheQueue() {
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

  @Test func untimedOperationsAreReportedWithoutFurtherUpdates() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(10))
    let queue = makeQueue("burst")
    for _ in 0..<20_000 { queue.addOperation {} }
    queue.waitUntilAllOperationsAreFinished()
    let timers = #"opq_operation_run{queue="burst",kind="BlockOperation"}"#
    metrics.values.wait(for: "20,000 operations to be timed or counted as untimed") {
      $0[timers, default: 0] + $0["opq_operations_untimed_total", default: 0] == 20_000
    }
    telemetry.stop()
  }

  @Test func aDeadlockIsReportedAsAWarning() {
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

  @Test func twoSessionsBothReportEverything() {
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

  @Test func aSecondSessionDoesNotCountOperationsAgain() {
    let queue = makeQueue("again")
    // This telemetry keeps the monitor running during the test. The monitor reports its stored
    // history to every new session.
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

  @Test func unreadOperationsFromBeforeTheStartAreNotCounted() {
    // This telemetry makes the collector read the queues now. The collector will not read them
    // again for a second.
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

  @Test func theDefaultSystemsAreThoseOfTheTask() throws {
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
}
