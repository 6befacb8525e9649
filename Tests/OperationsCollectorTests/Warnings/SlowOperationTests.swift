// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite struct SlowOperationTests {
  private final class Job: Operation, @unchecked Sendable {
    private let gate: Gate?

    init(gate: Gate? = nil) { self.gate = gate }

    override func main() { gate?.pass() }
  }

  private let watched = WatchedQueue()
  private let gate = Gate()

  /// Executes some short operations, and then starts an operation that does not end during the
  /// test.
  private func startLongJob(after quick: [Operation], _ long: Operation) {
    watched.queue.addOperations(quick, waitUntilFinished: true)
    watched.queue.addOperation(long)
    gate.waitForArrivals(1)
    watched.read()
  }

  private func quickJobs(_ count: Int) -> [Operation] { (0..<count).map { _ in Job() } }

  private func end() {
    gate.open()
    watched.finishAll()
  }

  @Test func anOperationSlowerThanItsClassHasAWarning() throws {
    let long = Job(gate: gate)
    startLongJob(after: quickJobs(SlowLimits.runCount), long)
    let started = try #require(watched.table.report(.init(long))?.started)
    let due = try #require(watched.table.nextWarning(after: started, of: [.slow]))
    #expect(due >= started + SlowLimits.shortestLimit)
    #expect(watched.warnings(of: .slow, at: due - .milliseconds(1)).isEmpty)
    let warning = try #require(watched.warnings(of: .slow, at: due).first)
    #expect(warning.operations == [.init(long)] && warning.count == 1)
    #expect(warning.since == started)
    let usual = try #require(warning.usual)
    #expect(due == SlowLimits.moment(started: started, usual: usual))
    end()
    watched.read()
    #expect(watched.warnings(of: .slow, at: due).isEmpty)
  }

  @Test func aClassWithFewRunsHasNoLimit() {
    startLongJob(after: quickJobs(SlowLimits.runCount - 1), Job(gate: gate))
    let late = MonitorTime.now + .seconds(3_600)
    #expect(watched.warnings(of: .slow, at: late).isEmpty)
    #expect(watched.table.nextWarning(after: MonitorTime.now, of: [.slow]) == nil)
    end()
  }

  @Test func blockOperationsHaveNoUsualTime() {
    let quick = (0..<2 * SlowLimits.runCount).map { _ in BlockOperation {} }
    startLongJob(after: quick, BlockOperation { [gate] in gate.pass() })
    #expect(watched.warnings(of: .slow, at: MonitorTime.now + .seconds(3_600)).isEmpty)
    end()
  }

  @Test func aCancelledOperationIsNotSlow() {
    let long = Job(gate: gate)
    startLongJob(after: quickJobs(SlowLimits.runCount), long)
    long.cancel()
    watched.read()
    #expect(watched.warnings(of: .slow, at: MonitorTime.now + .seconds(3_600)).isEmpty)
    end()
  }

  @Test func anOperationInADeadlockIsNotSlow() {
    let long = Job(gate: gate)
    startLongJob(after: quickJobs(SlowLimits.runCount), long)
    let late = MonitorTime.now + .seconds(3_600)
    #expect(watched.warnings(of: .slow, at: late).count == 1)
    _ = watched.table.deadlockWatch.take(
      [MonitorWarning(kind: .slotDeadlock, operations: [.init(long)])], cost: .zero, at: late)
    #expect(watched.warnings(of: .slow, at: late).isEmpty)
    end()
  }

  @Test("The limit is 1.5 times p99, and never below 100 ms")
  func limits() {
    let start = MonitorTime(nanoseconds: 0)
    #expect(SlowLimits.moment(started: start, usual: .seconds(2)) == start + .seconds(3))
    #expect(
      SlowLimits.moment(started: start, usual: .microseconds(3)) == start + .milliseconds(100))
  }
}
