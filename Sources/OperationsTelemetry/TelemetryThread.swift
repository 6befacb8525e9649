// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import CoreMetrics
import Dispatch
import MonitorProtocol
import OperationsCollector
import Tracing

/// Takes what a session tells, and tells metrics and traces of it, on a thread of its own: where all of
/// the process's other threads are busy is just where somebody wants to know of it.
final class TelemetryThread: Sendable {
  private let control: TelemetryControl
  private let metrics: (any MetricsFactory)?
  private let tracer: (any Tracer)?
  private let parent: ServiceContext
  private let session: MonitorSession
  private let interest: Interest
  private let past: TelemetryPast
  /// Where for so long no update comes at the end, none will: the collector has no thread.
  private static let endingPatience = Duration.seconds(5)

  /// The first update has come: the monitor records.
  private let begun = DispatchSemaphore(value: 0)
  /// After so long without an update there is nothing more to be read.
  private let patience: Duration

  private init(
    control: TelemetryControl, metrics: (any MetricsFactory)?, tracer: (any Tracer)?,
    parent: ServiceContext, interval: Duration
  ) {
    self.control = control
    self.metrics = metrics
    self.tracer = tracer
    self.parent = parent
    interest = TelemetryInterest.make(wantsWarnings: metrics != nil)
    // The collector reads at least once a second, while there is something to read.
    patience = min(max(interval, .seconds(1)), .seconds(3_600)) * 2
    // Before the session: what falls between the two is counted, and nothing twice.
    past = .now
    session = MonitorSession(minimumInterval: interval, interest: interest, isReadOnly: true) {
      control.ring()
    }
  }

  /// Begins, until `control` says otherwise. Returns once the monitor records, which takes a
  /// millisecond; if it cannot, after a second.
  static func start(
    control: TelemetryControl, metrics: (any MetricsFactory)?, tracer: (any Tracer)?,
    parent: ServiceContext, interval: Duration
  ) {
    let thread = TelemetryThread(
      control: control, metrics: metrics, tracer: tracer, parent: parent, interval: interval)
    // The new thread takes this reference over.
    let retained = Unmanaged.passRetained(thread)
    let error = csystem_start_thread(
      { Unmanaged<TelemetryThread>.fromOpaque($0).takeRetainedValue().main() },
      retained.toOpaque())
    guard error == 0 else {
      retained.release()
      control.didStop()
      return
    }
    _ = thread.begun.wait(timeout: .now() + .seconds(1))
  }

  private func main() {
    control.didStart()
    csystem_set_thread_name("opq-telemetry")
    var writer = TelemetryWriter(
      control: control, since: past, metrics: metrics, tracer: tracer, parent: parent)
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
