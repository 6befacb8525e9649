// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Tracing

/// A tracer whose spans are not recorded, as a tracer with sampling may decide. The log contains
/// the calls that such a span receives.
struct UnsampledTracer: Tracer {
  let log = EventLog<String>()

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> UnsampledSpan {
    UnsampledSpan(context(), log)
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}
}

/// A span that records the calls of its methods.
final class UnsampledSpan: Span {
  let context: ServiceContext
  let isRecording = false
  private let log: EventLog<String>

  init(_ context: ServiceContext, _ log: EventLog<String>) {
    self.context = context
    self.log = log
  }

  var operationName: String {
    get { "" }
    set { log.note("name") }
  }
  var attributes: SpanAttributes {
    get { [:] }
    set { log.note("attributes") }
  }
  func setStatus(_ status: SpanStatus) { log.note("status") }
  func addEvent(_ event: SpanEvent) { log.note("event") }
  func addLink(_ link: SpanLink) { log.note("link") }
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    log.note("error")
  }
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { log.note("end") }
}
