// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Tracing

/// Creates the spans of ended operations, and links them to the spans of their dependencies.
struct SpanWriter {
  /// The number of spans that are kept as targets of links. A new span can link only to the most
  /// recent of these spans.
  static let contextLimit = 10_000
  /// The maximum number of links of a span. Common tracing backends keep at most this number.
  static let linkLimit = 128

  private let tracer: any Tracer
  private let parent: ServiceContext
  /// The spans of operations that have a service context of their own; `nil` if there are none.
  private let open: OpenSpans?
  private var contexts: [OperationReport.ID: ServiceContext] = [:]
  /// The operations whose span contexts are kept as targets of links.
  private var ids = LastOperations(limit: Self.contextLimit)

  /// The number of span contexts that are kept as targets of links.
  var contextCount: Int { contexts.count }

  /// Creates a writer that has not created a span yet.
  ///
  /// - Parameters:
  ///   - tracer: The tracer that creates the spans.
  ///   - parent: The context with the parent of the other spans.
  ///   - open: The spans that were started when their operations began.
  init(to tracer: any Tracer, parent: ServiceContext, open: OpenSpans? = nil) {
    self.tracer = tracer
    self.parent = parent
    self.open = open
  }

  /// Creates the span of an operation, or ends its open span. The span of a dependency must be written before the
  /// span of its dependent. If the open span was ended without a report, this method does nothing.
  mutating func write(_ run: TelemetryRun, _ clock: WallClock) {
    let report = run.report
    if open?.wasUnreported(report.id) == true { return }
    let open = open?.take(report.id)
    let span =
      open?.span
      ?? tracer.startSpan(
        LabelText.harmless(report.title), context: parent,
        ofKind: .internal, at: clock.instant(run.started))
    if span.isRecording { describe(run, in: span, clock) }
    // The time of day may have been set back since an open span was started.
    let finished = clock.instant(run.finished)
    let isInOrder = open.map { $0.started <= finished.nanosecondsSinceEpoch } ?? true
    span.end(
      at: isInOrder
        ? finished : DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: open?.started ?? 0))
    remember(span.context, of: report.id)
  }

  private func describe(_ run: TelemetryRun, in span: any Span, _ clock: WallClock) {
    let report = run.report
    span.attributes = Self.attributes(of: run)
    if report.state == .failed {
      // The text is not a label, so it is not truncated to the length of a label.
      let text = report.errorText.map { LabelText.harmless($0, limit: .max) }
      span.setStatus(SpanStatus(code: .error, message: text))
    }
    let moments = [
      ("added", report.added), ("ready", report.becameReady),
      ("cancel requested", report.cancelRequested),
    ]
    for case (let name, let moment?) in moments {
      span.addEvent(SpanEvent(name: name, at: clock.instant(moment)))
    }
    for dependency in report.dependencies.prefix(Self.linkLimit) {
      guard let context = contexts[dependency] else { continue }
      span.addLink(SpanLink(context: context, attributes: [:]))
    }
  }

  private static func attributes(of run: TelemetryRun) -> SpanAttributes {
    let report = run.report
    var attributes: [String: SpanAttribute] = [
      "opq.operation.id": .int64(Int64(clamping: report.id.rawValue)),
      "opq.operation.class": .string(LabelText.harmless(report.className)),
      "opq.operation.kind": .string(LabelText.harmless(report.kind)),
      "opq.operation.priority": .int64(Int64(report.priority.rawValue)),
      "opq.operation.cancelled": .bool(report.state == .cancelled),
      "opq.queue.id": .int64(Int64(clamping: report.queue.rawValue)),
    ]
    if let name = run.queueName { attributes["opq.queue.name"] = .string(name) }
    if let ready = report.becameReady {
      attributes["opq.operation.slot_wait_seconds"] = .double(
        max(.zero, run.started - ready) / .seconds(1))
      if let added = report.added {
        attributes["opq.operation.blocked_seconds"] = .double(
          max(.zero, ready - added) / .seconds(1))
      }
    }
    return SpanAttributes(attributes)
  }

  private mutating func remember(_ context: ServiceContext, of id: OperationReport.ID) {
    if let oldest = ids.add(id) { contexts[oldest] = nil }
    contexts[id] = context
  }
}
