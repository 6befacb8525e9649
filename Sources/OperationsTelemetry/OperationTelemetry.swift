// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import CoreMetrics
import Dispatch
public import Tracing

/// Reports the activity of the process's operation queues to a metrics system and a tracer. The
/// metrics and spans contain the information that `opq-top` shows.
///
/// ```swift
/// let telemetry = OperationTelemetry.start()  // once both systems are bootstrapped
/// // … the program …
/// telemetry.stop()
/// ```
///
/// The telemetry reports every queue of the process, including queues that are created later.
/// Metrics have the name of the queue as the dimension `queue`. Queues with the same name share
/// their metrics.
///
/// | metric | kind | other dimension |
/// | --- | --- | --- |
/// | `opq_operations` | gauge | `state`: `waiting`, `ready`, `held` by a suspended queue, `executing` |
/// | `opq_operations_cancelling` | gauge: how many of them were cancelled | – |
/// | `opq_queue_width` | gauge; absent if the system decides | – |
/// | `opq_queues_suspended` | gauge: the number of suspended queues of this name | – |
/// | `opq_warnings`, not by queue | gauge: the number of warnings | `kind`, as `opq-top` names it |
/// | `opq_operations_added_total` | counter | – |
/// | `opq_operations_completed_total` | counter | `state`: `finished`, `cancelled` |
/// | `opq_operations_failed_total` | counter: finished with an error; also counted as `finished` | – |
/// | `opq_operations_untimed_total`, not by queue | counter: completed, without timer and span | – |
/// | `opq_operation_slot_wait` | timer: from ready to started | `kind` |
/// | `opq_operation_run` | timer: from started to finished | `kind` |
///
/// Gauges and counters are exact at each update, under any load. Counters count only events after
/// the telemetry was started. When a queue is deallocated, its gauges are destroyed, and its
/// activity since the previous update is not reported. Therefore keep queues for a long time, as
/// most programs do. Operations that were executing when the telemetry was started have neither
/// timer nor span. If no viewer watched the process before, spans of operations that were already
/// in a queue have no event for the moment when the operation was added. Operations that were
/// already ready have no slot wait.
///
/// Each operation that ran gets a span of the kind `internal` from its start to its finish. The
/// span is named after the operation or, if the operation has no name, after its kind. The
/// attributes of a span are the waiting times, the priority, the kind, the class and the queue of the
/// operation. A span has events for the moments at which the operation was added, became ready and
/// was cancelled. It has links to the spans of the operation's dependencies. The span of an
/// operation that failed has the status `error`, with the text of the error. The span of a
/// cancelled operation has the attribute `opq.operation.cancelled`, and no status: cancellation is
/// not an error. An operation that was cancelled before it started never ran. Such an operation has
/// neither span nor times, and does not count as untimed. If a cancelled operation was not recorded
/// from the beginning, it may be unknown whether it ran. Such an operation counts as untimed.
///
/// # Contexts
///
/// While a telemetry runs, an operation captures the service context of the task or thread that adds
/// it; if that has none, the service context of the one that has created the operation. The captured
/// context is `ServiceContext.current` in the operation's work, synchronous or asynchronous. So log
/// lines of the work have the same metadata as those of the code that added the operation. The
/// operation's span is a child of the span in that context. It is started when the work begins, and
/// is the current span in the work: spans that the work starts are its children, and so are the spans
/// of operations that the work adds. Members of a group are children of the span under which they
/// were added to the group. Attempts of a retry, and the work of a timeout, have no span of their
/// own, but the context of the operation that runs them. Completion blocks have no context.
///
/// The span of an operation without a captured context is created from the monitor's record after
/// the operation has ended, so that tracing costs such operations nothing. Spans that its work
/// starts are not its children.
///
/// At most 10,000 spans are open at a time. The spans of further operations are not children of the
/// captured context. If the monitor has not recorded an operation whose span is open, reports it very late, or if the
/// telemetry stops first, the span has the attribute `opq.operation.untimed`, and no others. The same
/// is true for an operation that was cancelled at the moment of its start.
///
/// # Links
///
/// A span has no link to a dependency in these cases: the dependency has no
/// span; 10,000 other operations have got spans since; the dependency was removed from the
/// operation's `dependencies` before the operation finished; or the dependency is not among the
/// first 128 dependencies. In rare cases, a link is also missing because both operations are very
/// short and a reading falls between their ends.
///
/// # Limits
///
/// Under heavy load the monitor records at most about 1,000 operations from beginning to end
/// between two readings. The monitor reads at least once a second, even if the interval is longer.
/// An update reports the last 10,000 operations that have ended. All other operations have neither
/// timer nor span, but the counters include them, and `opq_operations_untimed_total` counts them. A
/// shorter interval records more operations and costs more. At most 100 names of queues have a
/// label of their own; the other queues share the label `_other`. If all queues of a name are
/// deallocated, another name may replace it. At most 500 pairs of a queue and a kind have timers
/// of their own; the other kinds of a queue share the label `_other`. Names are truncated to 100
/// Unicode scalars, and control characters, quotation marks and backslashes in names are replaced.
/// Queues without a name share the label `OperationQueue`. Names that are equal after these changes
/// share a label. Queues whose actual name is `_other` or `OperationQueue` also share these labels.
///
/// # Cost
///
/// While the telemetry runs, the process is watched, with the same cost as for an attached
/// `opq-top`. The monitor keeps some hundred bytes for each unfinished operation and for each of
/// the last 10,000 finished operations. A queue with a million waiting operations needs hundreds of
/// megabytes more. `bash Benchmarks/telemetry` measures the cost.
///
/// An operation with a captured context takes more memory until it has run. Its span is started on the thread
/// of the operation. Other operations are not affected.
///
/// This product links the collector, but neither SwiftNIO nor the listener, and opens no socket. Link
/// OperationsMonitor too if `opq-top` should attach to the program.
///
/// Apart from the start of the spans of operations with a captured context, the telemetry calls the
/// metrics system and the tracer on its own thread, which sleeps while nothing happens. If such a call takes long,
/// later updates are merged and not stored.
public final class OperationTelemetry: Sendable {
  private let control = TelemetryControl()

  private init() {}

  deinit { if !control.isForked { control.abandon() } }

  /// Starts to report the activity of the process's queues. The first values are reported at once.
  /// The function returns after about a millisecond, and all later events are reported. It can be
  /// called on any thread.
  ///
  /// The telemetry needs its own thread and the monitor's thread. If its own thread cannot be
  /// started, the returned telemetry has already ended. If the monitor's thread cannot be started,
  /// the function returns after a second, and nothing is reported. The same happens in a process
  /// that was forked from a watched process, because the monitor's thread does not exist there.
  ///
  /// Keep a reference to the result. If it is released before it is stopped, reporting ends at
  /// once, and activity that was not reported yet is never reported. Use only one telemetry at a
  /// time for each metrics system, because two would count everything twice.
  ///
  /// - Parameters:
  ///   - metrics: The metrics system. By default, it is the metrics system of the task or the
  ///     bootstrapped one. Pass `nil` to report no metrics.
  ///   - tracer: The tracer that creates the spans. By default, it is the tracer of the task or the
  ///     bootstrapped one. Pass `nil` to create no spans.
  ///   - interval: The shortest time between two updates. If it is 0 or less, an update follows
  ///     each event. While nothing happens, there are no updates. If the interval is longer than a
  ///     minute, some operations are not reported, because the monitor keeps ended operations only
  ///     for a minute.
  ///   - context: The context with the parent of the spans of operations that have captured no
  ///     context. By default, these spans have no parent, and each of them begins a trace.
  /// - Returns: The running telemetry. It has already ended if `metrics` and `tracer` are `nil`, or
  ///   if they discard everything.
  public static func start(
    metrics: (any MetricsFactory)? = MetricsSystem.factory,
    tracer: (any Tracer)? = InstrumentationSystem.tracer,
    interval: Duration = .seconds(1), context: ServiceContext = .topLevel
  ) -> OperationTelemetry {
    let telemetry = OperationTelemetry()
    // No data is collected if the metrics system and the tracer discard it.
    let metrics = metrics is NOOPMetricsHandler ? nil : metrics
    let tracer = tracer is NoOpTracer ? nil : tracer
    guard metrics != nil || tracer != nil else {
      telemetry.control.didStop()
      return telemetry
    }
    TelemetryThread.start(
      control: telemetry.control, metrics: metrics, tracer: tracer, parent: context,
      interval: interval)
    return telemetry
  }

  /// Reports all activity up to now, and ends the telemetry. The method returns after the report.
  /// The report usually takes some milliseconds; it takes longer if the metrics system or the
  /// tracer is slow. A second call has no effect, but also waits. The method can be called on any
  /// thread, except in a call from the telemetry to the metrics system or the tracer.
  ///
  /// The gauges are destroyed, because their values would never change again. Counters and timers
  /// stay. Counters are exact. After very many operations in a short time, the monitor may not have
  /// read all of them; operations that it has not read count as untimed. If the monitor does not
  /// answer for five seconds, activity that it has not reported by then is not counted. In a child
  /// process that was forked after the start, the method does nothing and returns at once.
  ///
  /// - Precondition: The caller is not the metrics system or the tracer during a call from the
  ///   telemetry, because the call would then wait for itself.
  public func stop() {
    if control.isForked { return }
    precondition(
      !control.isOwnThread,
      "OperationTelemetry.stop() was called on a thread of the metrics system or tracer that it "
        + "waits for; call it on another thread")
    let isStopped = DispatchSemaphore(value: 0)
    control.whenStopped { isStopped.signal() }
    control.stop()
    isStopped.wait()
  }

  /// Reports all activity up to now, and ends the telemetry, without blocking a thread. The method
  /// can be called on any thread.
  public func stop() async {
    if control.isForked { return }
    control.stop()
    await withCheckedContinuation { continuation in
      control.whenStopped { continuation.resume() }
    }
  }

  /// Waits until the task is cancelled, and then stops the telemetry. The method can be called on
  /// any thread and more than once.
  ///
  /// The method waits even if nothing is reported, or if the telemetry has already ended, because a
  /// service that returns ends its whole service group. A graceful shutdown does not cancel a
  /// service of swift-service-lifecycle. The service must react to the shutdown:
  ///
  /// ```swift
  /// struct TelemetryService: Service {
  ///   let telemetry: OperationTelemetry
  ///   func run() async { await cancelWhenGracefulShutdown { await telemetry.run() } }
  /// }
  /// ```
  public func run() async {
    let (cancellation, continuation) = AsyncStream.makeStream(of: Void.self)
    await withTaskCancellationHandler {
      for await _ in cancellation {}
    } onCancel: {
      continuation.finish()
    }
    await stop()
  }
}
