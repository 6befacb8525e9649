// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import Tracing

/// A tracer that creates spans with a unique id. Each span stores its values until the span ends.
struct CountingTracer: Tracer {
  private enum IDKey: ServiceContextKey {
    typealias Value = UInt64
  }

  private static let last = Atomic<UInt64>(0)

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> CountingSpan {
    var context = context()
    context[IDKey.self] = Self.last.wrappingAdd(1, ordering: .relaxed).newValue
    return CountingSpan(operationName, context)
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Carrier == Inject.Carrier {}

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Carrier == Extract.Carrier {}
}

/// A span that stores its values until it ends.
final class CountingSpan: Span {
  private struct State {
    var operationName: String
    var attributes = SpanAttributes()
    var events: [SpanEvent] = []
    var links: [SpanLink] = []
  }

  let context: ServiceContext
  private let state: Mutex<State>

  init(_ operationName: String, _ context: ServiceContext) {
    self.context = context
    state = Mutex(State(operationName: operationName))
  }

  var isRecording: Bool { true }

  var operationName: String {
    get { state.withLock { $0.operationName } }
    set { state.withLock { $0.operationName = newValue } }
  }

  var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }

  func addEvent(_ event: SpanEvent) { state.withLock { $0.events.append(event) } }
  func addLink(_ link: SpanLink) { state.withLock { $0.links.append(link) } }
  func setStatus(_ status: SpanStatus) {}
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {}
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
}
