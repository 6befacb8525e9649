// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CoreMetrics
import Dispatch
import FixtureSupport
import Operations
import OperationsTelemetry
import Synchronization
import Tracing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A metrics system that only counts the values that it receives.
final class CountingMetrics: MetricsFactory, CounterHandler, MeterHandler, RecorderHandler,
  TimerHandler
{
  private let count = Atomic<Int64>(0)
  /// The number of received durations: two for each operation.
  private let timeCount = Atomic<Int>(0)

  var timedCount: Int { timeCount.load(ordering: .relaxed) / 2 }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { self }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { self }
  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler { self }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { self }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}

  func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
  func increment(by amount: Double) { increment(by: Int64(amount)) }
  func decrement(by amount: Double) { increment(by: -amount) }
  func reset() { count.store(0, ordering: .relaxed) }
  func set(_ value: Int64) { count.store(value, ordering: .relaxed) }
  func set(_ value: Double) { set(Int64(value)) }
  func record(_ value: Int64) { set(value) }
  func record(_ value: Double) { set(value) }
  func recordNanoseconds(_ duration: Int64) { timeCount.wrappingAdd(1, ordering: .relaxed) }
}

/// What is reported: nothing, metrics, or metrics and traces.
enum Reporting: String, CaseIterable {
  case off, metrics, traces
}

/// Measures the cost of reporting metrics and traces of a process's queues. The same work is done
/// without metrics and traces, with metrics, and with metrics and traces. The systems that receive
/// them do almost nothing. The three cases are measured in turn, and each ratio is that of two
/// measurements of the same round. The program prints the median of the ratios.
///
///     fixture-measure telemetry [ROUNDS]
///     fixture-measure telemetry off|metrics|traces COUNT    runs COUNT empty operations once, to
///     count instructions
enum TelemetryOverhead {
  /// Does some work while metrics or traces are reported, every second or at another interval.
  private static func report(
    _ reporting: Reporting, interval: Duration = .seconds(1), _ work: (CountingMetrics) -> Void
  ) {
    let metrics = CountingMetrics()
    let telemetry = OperationTelemetry.start(
      metrics: reporting == .off ? nil : metrics,
      tracer: reporting == .traces ? CountingTracer() : nil, interval: interval)
    work(metrics)
    telemetry.stop()
  }

  /// The processor time of this process.
  private static func processorTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// Returns the average processor time of one second in which 800 operations are reported.
  private static func measureSteady(_ reporting: Reporting) -> Duration {
    var taken = Duration.zero
    report(reporting) { metrics in
      let queue = OperationQueue()
      // The first 15 seconds are not measured. In this time, more operations finish than the
      // monitor keeps, so the monitor then has its greatest number of operations.
      for second in 0..<25 {
        let before = processorTime()
        for _ in 0..<800 { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        sleep(1)
        if second >= 15 { taken += processorTime() - before }
      }
      guard reporting == .off || metrics.timedCount > 19_000 else {
        fatalError("only \(metrics.timedCount) operations were reported")
      }
    }
    return taken / 10
  }

  /// Returns the number of bytes by which the process grows for each waiting operation while
  /// metrics are reported.
  private static func measureMemory(count: Int) -> Int {
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<count { queue.addOperation {} }
    let before = ProcessStatus.amount("VmRSS")
    var last = before
    report(.metrics) { _ in
      last = MeasuredWork.settledMemory(quietFor: .seconds(5))
    }
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    return (last - before) * 1_024 / count
  }

  private static func compare(_ name: String, rounds: Int, count: Int, _ work: (Int) -> Void) {
    work(count / 10)
    var ratios: [Reporting: [Double]] = [:]
    for round in 0..<rounds {
      var taken: [Reporting: Duration] = [:]
      // The order of the three measurements changes from round to round, so that each is first,
      // second and last equally often.
      for index in 0..<3 {
        let reporting = Reporting.allCases[(index + round) % 3]
        report(reporting) { _ in taken[reporting] = ContinuousClock().measure { work(count) } }
      }
      guard let off = taken[.off] else { continue }
      for (reporting, time) in taken { ratios[reporting, default: []].append(time / off) }
    }
    print(
      "\(name): metrics \(percent(median(ratios[.metrics] ?? [0]))), "
        + "metrics and traces \(percent(median(ratios[.traces] ?? [0])))")
  }

  static func run(_ arguments: [String]) {
    if arguments.count == 2, let reporting = Reporting(rawValue: arguments[0]),
      let count = Int(arguments[1])
    {
      // The interval is so long that the queues are read only at the end. So only the cost for each
      // operation is counted.
      report(reporting, interval: .seconds(100_000)) { _ in MeasuredWork.runEmpty(count) }
    } else {
      let rounds = arguments.first.flatMap { Int($0) } ?? 9
      print("memory of an operation that waits: \(measureMemory(count: 500_000)) bytes more")
      for reporting in Reporting.allCases {
        print(
          "800 operations a second, \(reporting): \(measureSteady(reporting)) of processor time a second"
        )
      }
      compare("empty operations", rounds: rounds, count: 10_000_000, MeasuredWork.runEmpty)
      compare("1 ms operations", rounds: rounds, count: 2_000) {
        MeasuredWork.runComputing($0, steps: 1_000_000)
      }
    }
  }
}
