// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import InMemoryTracing
import MonitorProtocol
import Operations
import TestSupport
import Testing
import Tracing

@testable import OperationsTelemetry

@Suite struct SpanWriterTests {
  private let tracer = InMemoryTracer()
  private let clock = WallClock(
    monotonic: MonitorTime(nanoseconds: 1_000), sinceEpoch: 1_000_001_000)

  private func run(_ id: UInt64, dependencies: [UInt64] = []) -> TelemetryRun {
    var report = OperationReport(
      id: OperationReport.ID(id), name: "\(id)", className: "Job", queue: QueueReport.ID(1),
      state: .finished, dependencies: dependencies.map { OperationReport.ID($0) })
    report.added = MonitorTime(nanoseconds: 1_000)
    report.becameReady = MonitorTime(nanoseconds: 500_001_000)
    return TelemetryRun(
      report: report, started: MonitorTime(nanoseconds: 2_000_001_000),
      finished: MonitorTime(nanoseconds: 3_000_001_000), queueName: nil)
  }

  @Test func spansHaveTimesOfDay() throws {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    writer.write(run(1), clock)
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.startInstant.nanosecondsSinceEpoch == 3_000_001_000)
    #expect(span.endInstant.nanosecondsSinceEpoch == 4_000_001_000)
    #expect(span.events.map(\.nanosecondsSinceEpoch) == [1_000_001_000, 1_500_001_000])
    #expect(span.attributes.get("opq.operation.blocked_seconds") == .double(0.5))
    #expect(span.attributes.get("opq.operation.slot_wait_seconds") == .double(1.5))
    #expect(span.attributes.get("opq.queue.name") == nil)
  }

  @Test func aLateReportDoesNotCreateASecondSpan() throws {
    let open = OpenSpans(of: tracer)
    defer { open.closeAll() }
    let operation = Operation()
    _ = open.begin(operation, in: .topLevel)
    operation.start()
    // The last call ends the span, because no report has arrived.
    for _ in 0..<3 { open.closeUnreported() }
    #expect(tracer.finishedSpans.count == 1)
    var writer = SpanWriter(to: tracer, parent: .topLevel, open: open)
    writer.write(run(operation.id.rawValue), clock)
    #expect(tracer.finishedSpans.count == 1)
  }

  @Test(
    "The span of a failed operation has the status error with the text, without control characters")
  func failedOperationsHaveAStatus() {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    var report = run(1).report
    report.state = .failed
    for text in ["disk\nfull " + String(repeating: "x", count: 500), nil] {
      report.errorText = text
      let time = MonitorTime(nanoseconds: 1_000)
      writer.write(
        TelemetryRun(report: report, started: time, finished: time, queueName: nil), clock)
    }
    report.state = .cancelled
    let time = MonitorTime(nanoseconds: 1_000)
    writer.write(
      TelemetryRun(report: report, started: time, finished: time, queueName: nil), clock)
    let statuses = tracer.finishedSpans.map(\.status)
    #expect(statuses.map(\.?.code) == [.error, .error, nil])
    #expect(statuses[0]?.message == "disk\u{FFFD}full " + String(repeating: "x", count: 500))
    #expect(statuses[1]?.message == nil)
  }

  @Test(
    "A span has the class and the kind, and the kind is the title of an operation without a name")
  func spansHaveKinds() throws {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    var report = run(1).report
    let time = MonitorTime(nanoseconds: 1_000)
    for kind in [nil, "hash"] {
      report.name = ""
      report.givenKind = kind
      writer.write(
        TelemetryRun(report: report, started: time, finished: time, queueName: nil), clock)
    }
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["Job", "hash"])
    #expect(
      spans.map { $0.attributes.get("opq.operation.class") } == [.string("Job"), .string("Job")])
    #expect(
      spans.map { $0.attributes.get("opq.operation.kind") } == [.string("Job"), .string("hash")])
  }

  @Test func spansUseTheCurrentTimeOfDay() {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    writer.write(run(1), clock)
    writer.write(
      run(2), WallClock(monotonic: MonitorTime(nanoseconds: 1_000), sinceEpoch: 9_000_001_000))
    let starts = tracer.finishedSpans.map(\.startInstant.nanosecondsSinceEpoch)
    #expect(starts == [3_000_001_000, 11_000_001_000])
  }

  @Test func timesInTheWrongOrderCountAsNoWait() throws {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    var report = run(1).report
    report.added = MonitorTime(nanoseconds: 3_000)
    report.becameReady = MonitorTime(nanoseconds: 2_000)
    let started = MonitorTime(nanoseconds: 1_000)
    writer.write(
      TelemetryRun(report: report, started: started, finished: started, queueName: nil), clock)
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.attributes.get("opq.operation.blocked_seconds") == .double(0))
    #expect(span.attributes.get("opq.operation.slot_wait_seconds") == .double(0))
  }

  @Test func unsampledSpansHaveNoAttributesAndCanBeLinked() {
    let unsampled = UnsampledTracer()
    var writer = SpanWriter(to: unsampled, parent: .topLevel)
    writer.write(run(1), clock)
    writer.write(run(2, dependencies: [1]), clock)
    #expect(unsampled.log.events == ["end", "end"])
    // The contexts of unsampled spans are kept too, because a tracing backend may discard one span
    // and keep another one that links to it.
    #expect(writer.contextCount == 2)
  }

  @Test func theLastSpansCanBeLinkedToAndEarlierOnesAreForgotten() {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    let count = UInt64(SpanWriter.contextLimit)
    for id in 1...count { writer.write(run(id), clock) }
    tracer.clearFinishedSpans()
    writer.write(run(count + 1, dependencies: [1]), clock)
    #expect(tracer.popFinishedSpans().first?.links.count == 1)
    // The number of contexts is limited. The span of operation `count + 1` removed the context of
    // the first span, so no link to it is possible.
    writer.write(run(count + 2, dependencies: [1, 3, count + 1]), clock)
    #expect(tracer.popFinishedSpans().first?.links.count == 2)
    for id in (count + 3)...(3 * count) { writer.write(run(id), clock) }
    #expect(writer.contextCount == SpanWriter.contextLimit)
  }

  @Test func theLinksOfASpanAreLimited() {
    var writer = SpanWriter(to: tracer, parent: .topLevel)
    for id in UInt64(1)...200 { writer.write(run(id), clock) }
    tracer.clearFinishedSpans()
    writer.write(run(201, dependencies: Array(1...200)), clock)
    #expect(tracer.finishedSpans.first?.links.count == SpanWriter.linkLimit)
  }
}
