// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import InMemoryTracing
import Logging
import Operations
import OperationsTelemetry
import TestSupport
import Testing
import Tracing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the service context of operations, with real queues and an in-memory tracer.
@Suite(.serialized, .oneAtATime, .onOwnThread) struct ContextSpanTests {
  private let tracer = InMemoryTracer()
  private let queue = OperationQueue()
  private let other = OperationQueue()

  /// Calls `body` with the context of a span `request`, waits for the queues, and returns all spans.
  private func trace(
    within parent: String? = "request", _ body: () -> Void
  ) throws -> [String: FinishedInMemorySpan] {
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: tracer)
    let span = parent.map { tracer.startSpan($0, context: .topLevel) }
    ServiceContext.withValue(span?.context ?? .topLevel) { body() }
    for _ in 0..<3 {
      queue.waitUntilAllOperationsAreFinished()
      other.waitUntilAllOperationsAreFinished()
    }
    span?.end()
    telemetry.stop()
    #expect(tracer.activeSpans.isEmpty)
    return Dictionary(tracer.finishedSpans.map { ($0.operationName, $0) }) { first, _ in
      Issue.record("two spans of \(first.operationName)")
      return first
    }
  }

  /// Starts and ends a span with a name, as the code of an operation does.
  private func work(_ name: String) { tracer.withSpan(name) { _ in } }

  private func expect(
    _ child: String, isChildOf parent: String, in spans: [String: FinishedInMemorySpan],
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let (child, parent) = try (
      #require(spans[child], sourceLocation: location),
      #require(spans[parent], sourceLocation: location)
    )
    #expect(child.parentSpanID == parent.spanID, sourceLocation: location)
    #expect(child.traceID == parent.traceID, sourceLocation: location)
  }

  private func block(_ name: String, _ body: @escaping @Sendable () -> Void) -> Operation {
    let operation = BlockOperation(block: body)
    operation.name = name
    return operation
  }

  @Test func anOperationIsAChildOfTheSpanUnderWhichItWasAdded() throws {
    let spans = try trace {
      queue.addOperation(block("block") { work("in the block") })
      queue.addOperation(name: "result") { work("in the result") }
      queue.addAsyncOperation(name: "async") {
        work("in the async operation")
        await Task.yield()
        work("after the suspension")
      }
    }
    for name in ["block", "result", "async"] { try expect(name, isChildOf: "request", in: spans) }
    try expect("in the block", isChildOf: "block", in: spans)
    try expect("in the result", isChildOf: "result", in: spans)
    try expect("in the async operation", isChildOf: "async", in: spans)
    try expect("after the suspension", isChildOf: "async", in: spans)
  }

  @Test func anOperationIsAChildOfTheOperationThatAddsIt() throws {
    let (queue, other) = (queue, other)
    let spans = try trace {
      queue.addOperation(
        block("outer") {
          other.addAsyncOperation(name: "inner") {
            queue.addOperation(name: "innermost") { work("work") }
          }
        })
    }
    try expect("outer", isChildOf: "request", in: spans)
    try expect("inner", isChildOf: "outer", in: spans)
    try expect("innermost", isChildOf: "inner", in: spans)
    try expect("work", isChildOf: "innermost", in: spans)
  }

  @Test func membersAndContinuationsAreChildrenOfTheSpanUnderWhichTheyWereAdded() throws {
    let spans = try trace {
      let group = GroupOperation([block("member") { work("in the member") }])
      group.name = "group"
      group.addOperation(AsyncOperation(name: "later") { work("in the later member") })
      queue.addOperation(group)
      let first = queue.addAsyncOperation(name: "first") {}
      first.then(on: other, name: "second") { work("in the second") }
      queue.addOperation(
        RetryOperation(maximumAttempts: 1) { _ in ResultOperation { work("in the attempt") } })
    }
    for name in ["group", "member", "later", "first", "second"] {
      try expect(name, isChildOf: "request", in: spans)
    }
    try expect("in the member", isChildOf: "member", in: spans)
    try expect("in the later member", isChildOf: "later", in: spans)
    try expect("in the second", isChildOf: "second", in: spans)
    try expect("in the attempt", isChildOf: "RetryOperation<()>", in: spans)
  }

  @Test func aSpanThatIsOpenDuringTheWorkHasTheDataOfTheOperation() throws {
    let first = block("first") {}
    let second = block("second") {}
    second.addDependency(first)
    let spans = try trace { queue.addOperations([first, second]) }
    let span = try #require(spans["second"])
    #expect(span.attributes.get("opq.operation.id") == .int64(Int64(second.id.rawValue)))
    #expect(span.events.map(\.name) == ["added", "ready"])
    #expect(span.links.first?.context.inMemorySpanContext?.spanID == spans["first"]?.spanID)
    #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
  }

  @Test func operationsWithoutAContextHaveTheirOwnTraces() throws {
    let spans = try trace(within: nil) {
      queue.addOperation(block("alone") {})
    }
    #expect(spans["alone"] != nil && spans["alone"]?.parentSpanID == nil)
  }

  @Test func anOperationThatWasCancelledBeforeItStartedHasNoSpan() throws {
    queue.isSuspended = true
    let dropped = block("dropped") {}
    let spans = try trace {
      queue.addOperation(dropped)
      dropped.cancel()
      queue.isSuspended = false
    }
    #expect(spans.keys.sorted() == ["request"])
  }

  @Test func anOperationThatExecutesWhenTheTelemetryStopsHasASpan() throws {
    let gate = Gate()
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: tracer)
    tracer.withSpan("request") { _ in queue.addOperation(block("long") { gate.pass() }) }
    gate.waitForArrivals(1)
    telemetry.stop()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    let span = try #require(tracer.finishedSpans.first { $0.operationName == "long" })
    #expect(span.events.map(\.name) == ["telemetry stopped"])
    #expect(span.attributes.get("opq.operation.untimed") == .bool(true))
  }

  @Test func anOperationThatLeavesItsQueueLongAfterItsWorkHasOneSpan() throws {
    let (work, finish) = (Gate(), Gate())
    let telemetry = OperationTelemetry.start(
      metrics: nil, tracer: tracer, interval: .milliseconds(1))
    let late = block("late") { work.pass() }
    // The observer delays the end of the operation after its work.
    let observation = late.observe(\.isFinished) { _, _ in finish.pass() }
    tracer.withSpan("request") { _ in queue.addOperation(late) }
    work.open()
    finish.waitForArrivals(1)
    // The span of each of these operations ends in an update of the telemetry.
    for count in 1...5 {
      other.addOperation {}
      #expect(
        poll(for: .seconds(Patience.seconds), pausing: true) { tracer.finishedSpans.count > count })
    }
    finish.open()
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    observation.invalidate()
    let spans = tracer.finishedSpans.filter { $0.operationName == "late" }
    #expect(spans.count == 1)
    #expect(spans.first?.parentSpanID != nil)
    #expect(spans.first?.attributes.get("opq.operation.untimed") == nil)
  }

  @Test func allSpansUnderHeavyLoadEnd() throws {
    let spans = trace(count: 20_000)
    // The work of operations beyond the limit of open spans has no span of its own.
    #expect(spans.count > 1_000)
    let ids = Set(spans.map(\.spanID))
    #expect(ids.count == spans.count)
    #expect(tracer.activeSpans.isEmpty)
  }

  private func trace(count: Int) -> [FinishedInMemorySpan] {
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: tracer)
    tracer.withSpan("request") { _ in for _ in 0..<count { queue.addOperation {} } }
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    return tracer.finishedSpans
  }

  @Test func metadataProvidersOfLogsReadTheContext() throws {
    let lines = EventLog<String>()
    let provider = Logger.MetadataProvider {
      ServiceContext.current?.inMemorySpanContext.map { ["trace": "\($0.traceID)"] } ?? [:]
    }
    let logger = Logger(label: "test") { _ in LineHandler(lines: lines, metadataProvider: provider)
    }
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: tracer)
    let span = tracer.startSpan("request", context: .topLevel)
    ServiceContext.withValue(span.context) {
      queue.addOperation { logger.info("block") }
      queue.addAsyncOperation {
        await Task.yield()
        logger.info("async")
      }
    }
    queue.addOperation { logger.info("alone") }
    queue.waitUntilAllOperationsAreFinished()
    span.end()
    telemetry.stop()
    let expected = ["alone -", "async \(span.traceID)", "block \(span.traceID)"]
    #expect(lines.events.sorted() == expected)
  }

  @Test func contextsCanBePropagatedWithoutTelemetry() {
    ServiceContextPropagation.start()
    let seen = EventLog<Bool>()
    let span = tracer.startSpan("request", context: .topLevel)
    ServiceContext.withValue(span.context) {
      queue.addOperation {
        seen.note(ServiceContext.current?.inMemorySpanContext?.spanID == span.spanID)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    ServiceContextPropagation.stop()
    span.end()
    #expect(seen.events == [true])
    #expect(tracer.finishedSpans.count == 1)
  }

  @Test func stopWithoutStartEndsTheProcessWhileATelemetryRunsInOwnProcess() async {
    await #expect(processExitsWith: .failure) {
      let telemetry = OperationTelemetry.start(metrics: nil, tracer: InMemoryTracer())
      ServiceContextPropagation.start()
      ServiceContextPropagation.stop()
      ServiceContextPropagation.stop()
      withExtendedLifetime(telemetry) {}
      exit(0)
    }
  }

  @Test func withoutTelemetryOperationsHaveNoContext() {
    let seen = EventLog<Bool>()
    let span = tracer.startSpan("request", context: .topLevel)
    ServiceContext.withValue(span.context) {
      queue.addOperation { seen.note(ServiceContext.current == nil) }
    }
    queue.waitUntilAllOperationsAreFinished()
    span.end()
    #expect(seen.events == [true])
  }
}

/// A log handler that notes the message and the trace of each line.
private struct LineHandler: LogHandler {
  let lines: EventLog<String>
  var metadataProvider: Logger.MetadataProvider?
  var metadata = Logger.Metadata()
  var logLevel = Logger.Level.trace

  init(lines: EventLog<String>, metadataProvider: Logger.MetadataProvider) {
    self.lines = lines
    self.metadataProvider = metadataProvider
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let trace = metadataProvider?.get()["trace"].map { "\($0)" } ?? "-"
    lines.note("\(event.message) \(trace)")
  }
}
