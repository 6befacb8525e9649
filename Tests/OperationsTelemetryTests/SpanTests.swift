// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import InMemoryTracing
import Operations
import OperationsTelemetry
import TestSupport
import Testing
import Tracing

/// Tests of spans, with real queues and an in-memory tracer. All spans have been reported when the
/// telemetry has stopped.
@Suite(.oneAtATime) struct SpanTests {
  private let tracer = InMemoryTracer()
  private let queue = OperationQueue()

  init() { queue.name = "traced" }

  private func trace(
    context: ServiceContext = .topLevel, _ body: () -> Void
  ) -> [String: FinishedInMemorySpan] {
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: tracer, context: context)
    body()
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    return Dictionary(tracer.finishedSpans.map { ($0.operationName, $0) }) { first, _ in
      Issue.record("two spans of \(first.operationName)")
      return first
    }
  }

  private func operation(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> Operation {
    let operation = BlockOperation(block: body)
    operation.name = name
    return operation
  }

  @Test func anOperationIsLinkedToItsDependencies() throws {
    let (left, right, both) = (operation("left"), operation("right"), operation("both"))
    both.addDependency(left)
    both.addDependency(right)
    let spans = trace { queue.addOperations([both, right, left], waitUntilFinished: false) }
    let linked = try #require(spans["both"]).links.map(\.context.inMemorySpanContext?.spanID)
    #expect(linked == [spans["left"]?.spanID, spans["right"]?.spanID])
    #expect(spans["left"]?.links.isEmpty == true)
    #expect(Set(spans.values.map(\.traceID)).count == 3)
  }

  @Test func aSpanLinksToAnEarlierFinishedDependency() throws {
    let first = operation("first")
    let spans = trace {
      queue.addOperation(first)
      queue.waitUntilAllOperationsAreFinished()
      let second = operation("second")
      second.addDependency(first)
      queue.addOperation(second)
    }
    let second = try #require(spans["second"])
    #expect(second.links.first?.context.inMemorySpanContext?.spanID == spans["first"]?.spanID)
  }

  @Test func aSpanContainsTheOperationAndItsTimes() throws {
    let before = DefaultTracerClock.now.nanosecondsSinceEpoch
    let job = operation("job")
    job.queuePriority = .high
    let span = try #require(trace { queue.addOperation(job) }["job"])
    let after = DefaultTracerClock.now.nanosecondsSinceEpoch
    #expect(span.kind == .internal)
    #expect(span.attributes.get("opq.operation.id") == .int64(Int64(job.id.rawValue)))
    #expect(span.attributes.get("opq.operation.class") == .string("BlockOperation"))
    #expect(span.attributes.get("opq.operation.priority") == .int64(4))
    #expect(span.attributes.get("opq.operation.cancelled") == .bool(false))
    #expect(span.attributes.get("opq.queue.name") == .string("traced"))
    #expect(span.status == nil)
    #expect(span.events.map(\.name) == ["added", "ready"])
    let moments =
      span.events.map(\.nanosecondsSinceEpoch)
      + [span.startInstant.nanosecondsSinceEpoch, span.endInstant.nanosecondsSinceEpoch]
    #expect(moments == moments.sorted())
    // The times of the span are converted from another clock. The two clocks cannot be read at the
    // same moment, so the comparison allows a difference.
    let tolerance: UInt64 = 1_000_000_000
    #expect(moments.allSatisfy { $0 > before - tolerance && $0 < after + tolerance })
  }

  @Test func aSpanRecordsACancellationDuringTheRun() throws {
    let gate = Gate()
    let job = operation("job") { gate.pass() }
    let spans = trace {
      queue.addOperation(job)
      gate.waitForArrivals(1)
      job.cancel()
      gate.open()
    }
    let span = try #require(spans["job"])
    #expect(span.attributes.get("opq.operation.cancelled") == .bool(true))
    #expect(span.events.map(\.name) == ["added", "ready", "cancel requested"])
    #expect(span.status == nil)
  }

  @Test func anOperationThatNeverRanHasNoSpanAndNoLinks() throws {
    let (dropped, next) = (operation("dropped"), operation("next"))
    next.addDependency(dropped)
    queue.isSuspended = true
    let spans = trace {
      queue.addOperations([dropped, next], waitUntilFinished: false)
      dropped.cancel()
      queue.isSuspended = false
    }
    #expect(spans.keys.sorted() == ["next"])
    #expect(spans["next"]?.links.isEmpty == true)
  }

  @Test func spansAreChildrenOfTheGivenContext() throws {
    let parent = tracer.startSpan("program", context: .topLevel)
    let spans = trace(context: parent.context) {
      queue.addOperation(operation("a"))
      queue.addOperation(operation("b"))
    }
    for name in ["a", "b"] {
      #expect(spans[name]?.traceID == parent.traceID)
      #expect(spans[name]?.parentSpanID == parent.spanID)
    }
    parent.end()
  }

  @Test func aSpanOfANamelessOperationHasTheNameOfTheClass() {
    let spans = trace {
      queue.addOperation {}
      queue.addOperation(operation("\u{1B}[31m\n" + String(repeating: "y", count: 1_000)))
    }
    #expect(spans["BlockOperation"] != nil)
    let hostile = spans.keys.first { $0.contains("yyy") }
    #expect(hostile?.hasPrefix("\u{FFFD}[31m\u{FFFD}y") == true)
    #expect(hostile?.unicodeScalars.count == 100)
  }
}
