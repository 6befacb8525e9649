// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import CoreMetrics
import Dispatch
public import Tracing

/// Reports the activity of the process's operation queues to a metrics system and a tracer: the information
/// that `opq-top` shows, for people who operate many machines.
///
/// ```swift
/// let telemetry = OperationTelemetry.start()  // once both systems are bootstrapped
/// // … the program …
/// telemetry.stop()
/// ```
///
/// It reports every queue of the process, including queues that are made later. Metrics have the name of the
/// queue as the dimension `queue`. Queues with the same name share their metrics.
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
/// | `opq_operations_untimed_total`, not by queue | counter: completed, without timer and span | – |
/// | `opq_operation_slot_wait` | timer: from ready to started | `class` |
/// | `opq_operation_run` | timer: from started to finished | `class` |
///
/// Gauges and counters are exact at each update, under any load. Counters count only events after the start.
/// When a queue is deallocated, its gauges are destroyed, and its activity since the previous update is not
/// reported. Keep queues for a long time, as most programs do. Operations that were executing at the start
/// have neither timer nor span. If nothing watched the process before the start, operations that were in a
/// queue at the start have no event for the moment when they were added, and operations that were ready have
/// no wait time.
///
/// Each operation that ran gets a span of the kind `internal` from its start to its finish. The span is named
/// after the operation or, if the operation has no name, after its class. Its attributes are the waiting
/// times, the priority, the class and the queue. It has events for the moments at which the operation was
/// added, became ready and was cancelled, and links to the spans of the dependencies. The span of a cancelled
/// operation has the attribute `opq.operation.cancelled`, and no status: cancellation is not an error. An
/// operation that was cancelled before it started never ran. It has neither span nor times, and does not
/// count as untimed. If it is unknown whether a cancelled operation ran, because it was not recorded from the
/// beginning and finished without being started by its queue, it counts as untimed.
///
/// A span is made from the monitor's record after the operation has ended. A tracer gives a span its identity
/// when the span is started, and no span is started while the operation runs, so that tracing costs
/// operations nothing. Therefore spans that the operation's own code starts are not children of its span. A
/// link is missing if the dependency has no span, was not among the last 10,000 operations that got one, was
/// no longer among the operation's `dependencies` at its finish, or is not among the first 128 of these. In
/// rare cases a link is also missing if both operations are so short that a reading falls between their ends.
///
/// # Limits
///
/// Under heavy load the monitor records at most about 1,000 operations from beginning to end between two
/// readings. It reads at least once a second, however long the interval is, and reports the last 10,000
/// operations that have ended. All other operations have neither timer nor span. They are counted, also in
/// `opq_operations_untimed_total`. A shorter interval records more operations and costs more. 100 names of
/// queues have a label of their own; the other queues share `_other`. A name whose queues are deallocated
/// gives its label to the next name. 500 pairs of a queue and a class have timers of their own; the other
/// classes of a queue share `_other`. Names are cut to 100 Unicode scalars, and control characters, quotation
/// marks and backslashes in them are replaced. Queues without a name share the label `OperationQueue`. Names
/// that are equal after these changes share a label. So do queues whose actual name is `_other` or
/// `OperationQueue`.
///
/// # Cost
///
/// The process is watched while the telemetry runs, as by an attached `opq-top`. The monitor keeps some
/// hundred bytes for each operation that has not finished, and for the last 10,000 that have. A queue of a
/// million waiting operations takes hundreds of megabytes more. `bash Benchmarks/telemetry` measures it.
///
/// This product links the whole monitor, including SwiftNIO. Therefore, if the process is started with
/// `OPQ_MONITOR=ro` or `rw`, viewers can attach to it. With `rw` every process of the same user can then also
/// cancel its operations. The telemetry itself opens no socket.
///
/// The telemetry runs no code on the threads of operations. Metrics and tracer are called on the telemetry's
/// own thread, which sleeps while nothing happens. During such a call, updates are merged, not queued.
public final class OperationTelemetry: Sendable {
  private let control = TelemetryControl()

  private init() {}

  deinit { if !control.isForked { control.abandon() } }

  /// Starts to report the activity of the process's queues. The first values are reported at once. Returns
  /// after about a millisecond; every event after that is reported. It may be called on any thread.
  ///
  /// It needs two threads. If its own thread cannot be started, or if there is nothing to report to, the
  /// returned telemetry has already ended. If the monitor's thread cannot be started, or does not exist
  /// because the process was forked from a watched process, the function returns after a second, and nothing
  /// is reported.
  ///
  /// Keep the result. If it is released without having been stopped, reporting ends at once, and activity
  /// that was not reported by then is not counted. Use one telemetry at a time for each metrics system: two
  /// would count everything twice.
  ///
  /// - Parameters:
  ///   - metrics: The metrics system; by default the task's or the bootstrapped one. Pass `nil` for no
  ///     metrics.
  ///   - tracer: The tracer that makes the spans; by default the task's or the bootstrapped one. Pass `nil`
  ///     for no spans.
  ///   - interval: The shortest time between two updates; 0 or less for an update after every event. While
  ///     nothing happens there are no updates. With an interval of more than a minute operations are missed,
  ///     because the monitor keeps ended operations only for a minute.
  ///   - context: Contains the parent of all spans. By default spans have no parent, and each begins a trace.
  /// - Returns: The running telemetry. It has already ended if neither metrics nor spans are wanted, or if
  ///   both systems discard everything.
  public static func start(
    metrics: (any MetricsFactory)? = MetricsSystem.factory,
    tracer: (any Tracer)? = InstrumentationSystem.tracer,
    interval: Duration = .seconds(1), context: ServiceContext = .topLevel
  ) -> OperationTelemetry {
    let telemetry = OperationTelemetry()
    // Collects no data if both systems discard it.
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

  /// Reports everything that has happened up to now, and ends. Returns after the report, which takes some
  /// milliseconds, or longer if the systems need longer. A second call is harmless and also waits. It may be
  /// called on any thread except the thread that calls the systems.
  ///
  /// The gauges are destroyed, because they would never change again; counters and timers stay. Counters are
  /// exact. After a burst of operations the monitor may not have read each operation by then; operations that
  /// it has not read count as untimed. If the monitor does not answer for five seconds, activity that it has
  /// not reported by then is not counted. In a child process that was forked after the start there is nothing
  /// to end, and the function returns at once.
  ///
  /// - Precondition: The caller is not the metrics system or the tracer during a call from the telemetry: it
  ///   would wait for itself.
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

  /// Reports everything that has happened up to now, and ends, without blocking a thread. It may be called on
  /// any thread.
  public func stop() async {
    if control.isForked { return }
    control.stop()
    await withCheckedContinuation { continuation in
      control.whenStopped { continuation.resume() }
    }
  }

  /// Waits until the task is cancelled, then stops. It may be called on any thread. A second call is
  /// harmless.
  ///
  /// It waits even if nothing is reported, or if the telemetry was stopped otherwise: a service that returns
  /// ends its whole group. A graceful shutdown does not cancel a service of swift-service-lifecycle. The
  /// service has to react to the shutdown:
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
