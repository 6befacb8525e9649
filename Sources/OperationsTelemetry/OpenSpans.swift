// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCore
import Tracing

/// The spans of operations that have a service context. Such a span is started when the work begins, so that
/// the spans of the work are its children. The telemetry's thread ends the span when the monitor has reported
/// the operation.
final class OpenSpans: Sendable {
  /// A span that has not ended.
  struct OpenSpan {
    let span: any Span
    /// The time of the start, in nanoseconds since 1970.
    let started: UInt64
    /// The time at which the work ended, in nanoseconds since 1970; `nil` if it is not known.
    fileprivate(set) var ended: UInt64?
    /// The operation; `nil` if it was deallocated, so that it does not run.
    fileprivate weak var operation: Operation?
    /// The number of updates since the telemetry's thread saw that the operation has left its queue.
    fileprivate var age = 0

    fileprivate var hasFinished: Bool { ended != nil || operation?.hasFinished ?? true }

    /// Whether the operation has left its queue. The monitor reports an operation when it leaves its queue, which
    /// may be long after the end of its work.
    fileprivate var hasLeftQueue: Bool { operation?.hasLeftQueue ?? true }
  }

  private struct State {
    var spans: [UInt64: OpenSpan] = [:]
    /// The number of spans that are open or are about to be started.
    var count = 0
    var isClosed = false
    /// The last operations whose spans were ended without a report of the monitor, at most ``OpenSpans/limit``.
    var unreported: Set<UInt64> = []
    var lastUnreported = LastOperations(limit: OpenSpans.limit)

    /// Records that the span of an operation was ended without a report.
    mutating func noteUnreported(_ id: UInt64) {
      unreported.insert(id)
      if let oldest = lastUnreported.add(OperationReport.ID(id)) {
        unreported.remove(oldest.rawValue)
      }
    }
  }

  /// The maximum number of open spans. Further operations have no open span while they run.
  static let limit = 10_000
  /// The number of updates within which the monitor usually reports an operation that has left its queue.
  private static let patience = 2

  private static let registered = Locked<[OpenSpans]>([])
  /// The open spans of each running telemetry that has a tracer.
  static var all: [OpenSpans] { registered.withLock { $0 } }

  private let tracer: any Tracer
  private let state = Locked(State())

  /// Creates a list, and adds it to ``all``.
  init(of tracer: any Tracer) {
    self.tracer = tracer
    Self.registered.withLock { $0.append(self) }
  }

  // MARK: On the threads of operations

  /// Starts the span of an operation.
  ///
  /// - Returns: The context of the span; `nil` if there are too many open spans or the telemetry has ended.
  func begin(_ operation: Operation, in parent: ServiceContext) -> ServiceContext? {
    let isAllowed = state.withLock { state in
      guard state.count < Self.limit, !state.isClosed else { return false }
      state.count += 1
      return true
    }
    guard isAllowed else { return nil }
    let started = DefaultTracerClock.now
    let span = tracer.startSpan(
      LabelText.harmless(operation.titleForDisplay), context: parent, ofKind: .internal, at: started
    )
    let open = OpenSpan(
      span: span, started: started.nanosecondsSinceEpoch, operation: operation)
    let id = operation.id.rawValue
    let isKept = state.withLock { state in
      if !state.isClosed { state.spans[id] = open }
      return !state.isClosed
    }
    if !isKept { Self.close(open) }
    return span.context
  }

  /// Notes that the work of an operation has ended.
  func end(_ id: OperationID) {
    let now = DefaultTracerClock.now.nanosecondsSinceEpoch
    state.withLock { $0.spans[id.rawValue]?.ended = now }
  }

  // MARK: On the telemetry's thread

  /// Removes and returns the open span of an operation that the monitor has reported; `nil` if there is none.
  func take(_ id: OperationReport.ID) -> OpenSpan? {
    state.withLock { state in
      guard let open = state.spans.removeValue(forKey: id.rawValue) else { return nil }
      state.count -= 1
      return open
    }
  }

  /// Whether the span of an operation was ended without a report of the monitor, because the report was late.
  func wasUnreported(_ id: OperationReport.ID) -> Bool {
    state.withLock { $0.unreported.contains(id.rawValue) }
  }

  /// Whether every open span belongs to an operation that has not left its queue.
  var isSettled: Bool { state.withLock { $0.spans.values.allSatisfy { $0.age == 0 } } }

  /// Ends the spans of operations that have left their queue and that the monitor did not report in the last updates.
  ///
  /// - Parameter isLate: Whether no update has arrived for so long that no report is missing.
  func closeUnreported(isLate: Bool = false) {
    // Whether an operation has left its queue is read without the lock: this thread may release the last reference
    // to the operation, which may have a `deinit` of the user.
    let finished = state.withLock { $0.spans }.compactMap { $0.value.hasLeftQueue ? $0.key : nil }
    let closed = state.withLock { state -> [OpenSpan] in
      var closed: [OpenSpan] = []
      for id in finished {
        guard let open = state.spans[id] else { continue }
        if open.age < Self.patience, !isLate {
          state.spans[id]?.age += 1
        } else {
          closed.append(open)
          state.spans[id] = nil
          state.noteUnreported(id)
        }
      }
      state.count -= closed.count
      return closed
    }
    for open in closed { Self.close(open) }
  }

  /// Ends all open spans, because the telemetry ends. Later operations have no open span.
  func closeAll() {
    Self.registered.withLock { $0.removeAll { $0 === self } }
    let closed = state.withLock { state -> [OpenSpan] in
      state.isClosed = true
      defer { state.spans = [:] }
      return Array(state.spans.values)
    }
    for open in closed { Self.close(open) }
  }

  /// Ends the span of an operation that the monitor has not reported.
  private static func close(_ open: OpenSpan) {
    if open.span.isRecording {
      open.span.attributes["opq.operation.untimed"] = true
      if !open.hasFinished { open.span.addEvent(SpanEvent(name: "telemetry stopped")) }
    }
    let end = open.ended ?? DefaultTracerClock.now.nanosecondsSinceEpoch
    open.span.end(
      at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: max(open.started, end)))
  }
}
