// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MetricsTestKit
import Operations
import OperationsCollector
import OperationsTelemetry
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the end of an `OperationTelemetry`, and of conditions that could prevent the end.
@Suite(.oneAtATime) struct EndingTests {
  private let metrics = TestMetrics()

  private func total(_ label: String, _ dimensions: (String, String)...) -> Int64 {
    metrics.counterTotal(label: label, dimensions: dimensions)
  }

  private func makeQueue(_ name: String) -> OperationQueue {
    let queue = OperationQueue()
    queue.name = name
    return queue
  }

  @Test func afterStoppingNothingIsReportedAndASecondStopIsHarmless() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("stopped")
    queue.addOperation {}
    await queue.waitUntilAllOperationsAreFinished()
    await telemetry.stop()
    await telemetry.stop()
    queue.addOperation {}
    await queue.waitUntilAllOperationsAreFinished()
    await telemetry.stop()
    #expect(total("opq_operations_completed_total", ("queue", "stopped")) == 1)
  }

  @Test func aCancelledRunReportsTheRestAndEnds() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let task = Task { await telemetry.run() }
    let queue = makeQueue("service")
    queue.addOperation {}
    await queue.waitUntilAllOperationsAreFinished()
    task.cancel()
    await task.value
    #expect(total("opq_operations_completed_total", ("queue", "service")) == 1)
  }

  @Test func releasingTheTelemetryEndsIt() {
    let log = EventLog<String>()
    do {
      let metrics = WatchedMetrics(probe: DeinitProbe("released", in: log))
      let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
      metrics.wait(for: "opq_operations_untimed_total", toBe: 0)
      withExtendedLifetime(telemetry) {}
    }
    log.wait(for: "released")
  }

  @Test func endingWithoutSystemsIsHarmless() async {
    let telemetry = OperationTelemetry.start()
    await telemetry.stop()
    await OperationTelemetry.start(metrics: nil, tracer: nil).stop()
  }

  @Test func theEndRemovesTheGaugesAndKeepsTheTotals() {
    let metrics = WatchedMetrics()
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let queue = makeQueue("ended")
    queue.addOperation {}
    queue.waitUntilAllOperationsAreFinished()
    telemetry.stop()
    let values = metrics.values.value
    #expect(values[#"opq_operations_completed_total{queue="ended",state="finished"}"#] == 1)
    #expect(values[#"opq_operation_run{queue="ended",kind="BlockOperation"}"#] == 1)
    let gauges = [
      "opq_operations{", "opq_operations_cancelling{", "opq_queue_width{", "opq_queues_suspended{",
      "opq_warnings{",
    ]
    #expect(values.keys.filter { key in gauges.contains { key.hasPrefix($0) } } == [])
  }

  // MARK: Services

  @Test func aServiceWithoutMetricsRunsUntilItIsCancelled() async {
    let telemetry = OperationTelemetry.start(metrics: nil, tracer: nil)
    // The task begins immediately on this thread. If `run()` did not wait, the task would end
    // before it is cancelled.
    let task = Task.immediate {
      await telemetry.run()
      return Task.isCancelled
    }
    task.cancel()
    #expect(await task.value)
  }

  @Test func aStoppedServiceRunsUntilItIsCancelled() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    await telemetry.stop()
    let task = Task.immediate {
      await telemetry.run()
      return Task.isCancelled
    }
    task.cancel()
    #expect(await task.value)
  }

  @Test func aServiceCancelledBeforeItsStartEnds() async {
    let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await telemetry.run()
    }
    await task.value
  }

  // MARK: Slow systems

  @Test func eventsDuringAMetricsCallAreReportedAfterIt() async {
    let gate = Gate()
    let run = #"opq_operation_run{queue="slow",kind="BlockOperation"}"#
    let metrics = WatchedMetrics { series in if series == run { gate.pass() } }
    let telemetry = OperationTelemetry.start(
      metrics: metrics, tracer: nil, interval: .milliseconds(1))
    let queue = makeQueue("slow")
    queue.addOperation {}
    gate.waitForArrivals(1)
    for _ in 0..<20 {
      for _ in 0..<100 { queue.addOperation {} }
      await queue.waitUntilAllOperationsAreFinished()
    }
    // `stop()` is called while the metrics system is still busy. It must wait until the events that
    // have happened since then are reported.
    let stopped = Task.immediate { await telemetry.stop() }
    gate.open()
    await stopped.value
    let values = metrics.values.value
    #expect(values[#"opq_operations_completed_total{queue="slow",state="finished"}"#] == 2_001)
    #expect(values[run, default: 0] + values["opq_operations_untimed_total", default: 0] == 2_001)
  }

  @Test func manyThreadsMayStartAndStopAtOnce() async throws {
    try await onOwnThread {
      let shared = OperationTelemetry.start(metrics: WatchedMetrics(), tracer: nil)
      onThreads(4) { thread in
        let queue = OperationQueue()
        queue.name = "raced \(thread)"
        for _ in 0..<10 {
          let metrics = WatchedMetrics()
          let telemetry = OperationTelemetry.start(metrics: metrics, tracer: nil)
          queue.addOperation {}
          queue.waitUntilAllOperationsAreFinished()
          telemetry.stop()
          let series = #"opq_operations_completed_total{queue="raced \#(thread)",state="finished"}"#
          #expect(metrics.values.value[series] == 1)
        }
        shared.stop()
      }
    }
  }

  @Test("Stopping from within a call of the system reports the mistake instead of waiting for ever")
  func stopFromWithinInOwnProcess() async {
    await #expect(processExitsWith: .failure) {
      try await onOwnThread {
        let telemetry = Monitored<OperationTelemetry?>(nil)
        let metrics = WatchedMetrics { series in
          if series.hasPrefix("opq_operation_run{") { telemetry.value?.stop() }
        }
        telemetry.change { $0 = OperationTelemetry.start(metrics: metrics, tracer: nil) }
        let queue = OperationQueue()
        queue.addOperation {}
        queue.waitUntilAllOperationsAreFinished()
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .seconds(Patience.seconds))
        exit(0)
      }
    }
  }

  // MARK: Without a monitor

  @Test("The telemetry ends even if the monitor never answers")
  func stopWithoutAnswerInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread {
        // This session's closure never returns, so the monitor's thread is blocked for ever.
        let never = DispatchSemaphore(value: 0)
        let session = MonitorSession(minimumInterval: .zero, isReadOnly: true) { never.wait() }
        let telemetry = OperationTelemetry.start(metrics: WatchedMetrics(), tracer: nil)
        telemetry.stop()
        withExtendedLifetime(session) {}
        exit(0)
      }
    }
  }

  @Test("In a forked child there is nothing to end")
  func stopInAChildInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      let telemetry = OperationTelemetry.start(metrics: WatchedMetrics(), tracer: nil)
      let stop: () -> Void = { telemetry.stop() }
      let child = forkProcess()
      if child == 0 {
        // The alarm ends the child process if it waits for ever. The signal is unblocked first,
        // because the calling thread may block signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        alarm(UInt32(Patience.seconds))
        stop()
        _exit(0)
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0, "the child ended with \(status)")
      await telemetry.stop()
    }
  }
}

/// The system function `fork`, which the module `Glibc` does not declare. Of the parent's threads,
/// the child has only the calling thread.
private let forkProcess = unsafeBitCast(
  dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
