// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

public import CoreMetrics
import Dispatch
public import Tracing

/// Tells a metrics system and a tracer what the process's operation queues do: what `opq-top` shows, for
/// those who look after many machines.
///
/// ```swift
/// let telemetry = OperationTelemetry.start()  // once both systems are bootstrapped
/// // … the program …
/// telemetry.stop()
/// ```
///
/// It sees every queue of the process, those to come included. Metrics carry the name of the queue as the
/// dimension `queue`; queues of one name are one to them.
///
/// | metric | kind | other dimension |
/// | --- | --- | --- |
/// | `opq_operations` | gauge | `state`: `waiting`, `ready`, `held` by a suspended queue, `executing` |
/// | `opq_operations_cancelling` | gauge: those of them that were cancelled | – |
/// | `opq_queue_width` | gauge; none where the system decides | – |
/// | `opq_queues_suspended` | gauge: how many queues of the name are | – |
/// | `opq_warnings`, not by queue | gauge: how many there are | `kind`, as `opq-top` calls it |
/// | `opq_operations_added_total` | counter | – |
/// | `opq_operations_completed_total` | counter | `state`: `finished`, `cancelled` |
/// | `opq_operations_untimed_total`, not by queue | counter: completed, with neither timer nor span | – |
/// | `opq_operation_wait` | timer: from ready to started | `class` |
/// | `opq_operation_run` | timer: from started to finished | `class` |
///
/// Gauges and counters are exact at each update, whatever the load; counters begin with what happens after
/// the start. Of a queue that goes its gauges are destroyed, and what it did since the update before is
/// not known: keep queues, as one does. What already ran at the start has neither timer nor span. What was
/// in a queue by then has no event where it was added, and what was ready by then no wait, unless somebody
/// watched already.
///
/// Each operation that ran gets a span of the kind `internal` from its start to its finish, named after
/// the operation or, where that has no name, its class; with its waiting times, priority, class and queue
/// as attributes, events where it was added, became ready and was cancelled, and links to the spans of
/// its dependencies. What was cancelled has the attribute `opq.operation.cancelled`, and no status: that a
/// program cancels is no error. What was cancelled before it started never ran: it has neither span nor
/// times, and does not count as untimed. Where it is not known whether it ran, because it was not recorded
/// from the beginning and finished without being started by its queue, it does.
///
/// A span is made when the operation is over, of what the monitor has recorded: a tracer gives a span its
/// identity when it is started, and nothing starts one while the operation runs, so that operations pay
/// nothing for being traced. So spans that the operation's own code starts are not children of its span. A
/// link is missing where the dependency has no span, was not among the last 10,000 that got one, was no
/// longer among the operation's `dependencies` at its finish, or is not among the first 128 of these; and,
/// rarely, where both are so quick that a reading falls between the ends of the two.
///
/// # What is bounded
///
/// Under heavy load the monitor records some 1,000 operations at most from beginning to end between two of
/// its readings, of which there is one a second at least, however long the interval, and tells of the last
/// 10,000 that are over. Others have neither timer nor span; they are counted, also in
/// `opq_operations_untimed_total`. A shorter interval records more, and costs more. 100 names of
/// queues have a label of their own, the other queues share `_other`; a name whose queues are gone gives
/// its place to the next one. 500 pairs of a queue and a class have timers of their own; the other classes
/// of a queue share `_other`. Names are cut to 100 Unicode scalars, and control characters, quotation
/// marks and backslashes in them replaced; queues without a name share the label `OperationQueue`. Names
/// that are equal by then are one label; so is what is really called `_other` or `OperationQueue`.
///
/// # What it costs
///
/// The process is watched for as long as this goes on, as by an attached `opq-top`: the monitor keeps some
/// hundred bytes for each operation that has not finished, and for the last 10,000 that have; a queue of a
/// million operations that wait takes hundreds of megabytes more. `bash Benchmarks/telemetry` measures it.
///
/// With this product the whole monitor is linked, SwiftNIO included. So a process that has it may be
/// attached to as any other that has the monitor, where it is started with `OPQ_MONITOR=ro`, or `rw`: then
/// what else runs as the same user can also cancel its operations. It listens nowhere by itself.
///
/// Nothing runs on the threads of operations. Metrics and tracer are called on a thread of the telemetry's
/// own, which sleeps while nothing happens; while it is in a call, updates are put together, not queued up.
public final class OperationTelemetry: Sendable {
  private let control = TelemetryControl()

  private init() {}

  deinit { if !control.isForked { control.abandon() } }

  /// Begins to tell what the process's queues do; the first values follow at once. Returns after a
  /// millisecond or so, when all that happens from then on is seen. Any thread.
  ///
  /// It needs two threads. Where its own cannot be started, the result has ended already, as where there
  /// is nothing to tell. Where the monitor's cannot, or is not there because the process was forked from
  /// one that was watched, it returns after a second, and nothing is told.
  ///
  /// Keep the result: where it is released without having been stopped, telling ends at once,
  /// and what was not told by then is lost. One at a time for each metrics system: two would count everything
  /// twice.
  ///
  /// - Parameters:
  ///   - metrics: To whom metrics are told; by default the task's or the bootstrapped system. `nil` for
  ///     nobody.
  ///   - tracer: Who makes the spans; by default the task's or the bootstrapped one. `nil` for nobody.
  ///   - interval: The shortest time between two updates; 0 or less for one whenever something happens.
  ///     While nothing happens there are none. With more than a minute operations are missed: the monitor
  ///     keeps what is over no longer.
  ///   - context: Has the parent of all spans; by default they have none, and each begins a trace.
  /// - Returns: What ends it. Where neither metrics nor spans are wanted, or both systems do nothing, it has
  ///   ended already.
  public static func start(
    metrics: (any MetricsFactory)? = MetricsSystem.factory,
    tracer: (any Tracer)? = InstrumentationSystem.tracer,
    interval: Duration = .seconds(1), context: ServiceContext = .topLevel
  ) -> OperationTelemetry {
    let telemetry = OperationTelemetry()
    // What is never looked at need not be gathered.
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

  /// Tells everything that has happened up to now, and ends; returns when that is done, some milliseconds
  /// later, or as long as the systems take. Twice is harmless, and waits likewise. Any thread but that
  /// which calls the systems.
  ///
  /// The gauges are destroyed, since they would never change again; counters and timers stay. Counters are
  /// exact; of very much at once the monitor may not have read each operation by then, and what it has not
  /// counts as untimed. Where the monitor does not answer for five seconds, what it has not told by then is
  /// lost. In a child process that was forked since the start there is nothing to end: it returns at once.
  ///
  /// - Precondition: It is not called by the metrics system or the tracer while these are called: it would
  ///   wait for itself.
  public func stop() {
    if control.isForked { return }
    precondition(
      !control.isOwnThread,
      "OperationTelemetry.stop() was called by the metrics system or the tracer that it waits for; "
        + "call it on another thread")
    let isStopped = DispatchSemaphore(value: 0)
    control.whenStopped { isStopped.signal() }
    control.stop()
    isStopped.wait()
  }

  /// The same, without blocking a thread. Any thread.
  public func stop() async {
    if control.isForked { return }
    control.stop()
    await withCheckedContinuation { continuation in
      control.whenStopped { continuation.resume() }
    }
  }

  /// Waits until the task is cancelled, then stops. Any thread; twice is harmless.
  ///
  /// It waits also where nothing is told, or somebody else has stopped it: a service that returns ends its
  /// whole group. A service of swift-service-lifecycle is told of a graceful shutdown, and not cancelled
  /// by it:
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
