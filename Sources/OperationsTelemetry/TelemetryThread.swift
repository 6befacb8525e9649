// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import CoreMetrics
import Dispatch
import MonitorProtocol
import OperationsCollector
import Tracing

/// Receives the updates of a session, and reports them to metrics and traces on its own thread. On
/// a shared thread, it could not report anything while all threads of the program are busy.
final class TelemetryThread: Sendable {
  private let control: TelemetryControl
  private let metrics: (any MetricsFactory)?
  private let tracer: (any Tracer)?
  private let parent: ServiceContext
  private let open: OpenSpans?
  private let session: MonitorSession
  private let interest: Interest
  private let past: TelemetryPast
  /// The longest time to wait for an update at the end. If no update arrives in this time, the
  /// collector has no thread.
  private static let endingPatience = Duration.seconds(5)

  /// A semaphore that the first update signals. The first update shows that the monitor records
  /// events.
  private let begun = DispatchSemaphore(value: 0)
  /// The time without an update after which the collector has certainly read all events.
  private let patience: Duration

  private init(
    control: TelemetryControl, metrics: (any MetricsFactory)?, tracer: (any Tracer)?,
    parent: ServiceContext, interval: Duration
  ) {
    self.control = control
    self.metrics = metrics
    self.tracer = tracer
    self.parent = parent
    open = tracer.map { OpenSpans(of: $0) }
    interest = TelemetryInterest.make(wantsWarnings: metrics != nil)
    // If a queue has changes, the collector reads them at least once a second.
    patience = min(max(interval, .seconds(1)), .seconds(3_600)) * 2
    // The counts are read before the session begins, so that events between the two moments are
    // counted, and no event is counted twice.
    past = .now
    session = MonitorSession(minimumInterval: interval, interest: interest, isReadOnly: true) {
      control.ring()
    }
  }

  /// Starts the thread, which runs until `control` ends it. The function returns as soon as the monitor has
  /// begun to record events, usually after about a millisecond. If the monitor cannot record events, the
  /// function returns after a second.
  static func start(
    control: TelemetryControl, metrics: (any MetricsFactory)?, tracer: (any Tracer)?,
    parent: ServiceContext, interval: Duration
  ) {
    let thread = TelemetryThread(
      control: control, metrics: metrics, tracer: tracer, parent: parent, interval: interval)
    // The new thread owns this reference and releases it.
    let retained = Unmanaged.passRetained(thread)
    let error = csystem_start_thread(
      { Unmanaged<TelemetryThread>.fromOpaque($0).takeRetainedValue().main() },
      retained.toOpaque())
    guard error == 0 else {
      thread.open?.closeAll()
      retained.release()
      control.didStop()
      return
    }
    CapturedServiceContext.install()
    control.whenStopped { CapturedServiceContext.remove() }
    _ = thread.begun.wait(timeout: .now() + .seconds(1))
  }

  private func main() {
    control.didStart()
    csystem_set_thread_name("opq-telemetry")
    var writer = TelemetryWriter(
      control: control, since: past, metrics: metrics, tracer: tracer, parent: parent,
      open: open)
    var ending = LastReading(after: interest)
    var step = LastReading.Step.wait
    while step != .end, control.phase != .abandoned {
      if ending.hasBegun {
        guard control.wait(atMost: Self.endingPatience) else { break }
      } else if !control.wait(atMost: writer.isSettled ? nil : patience) {
        writer.settle()
      }
      for case .update(let update) in session.takeMessages() {
        begun.signal()
        writer.write(update)
        step = ending.take(update)
        if case .watch(let interest) = step { session.watch(interest, minimumInterval: .zero) }
      }
      guard control.phase == .stopping, case .watch(let interest) = ending.begin() else { continue }
      session.watch(interest, minimumInterval: .zero)
    }
    session.invalidate()
    writer.end()
    control.didStop()
  }
}
