// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

/// Tests of the warning about a priority inversion: in a queue whose only slot is in use, an
/// operation of high priority waits for an operation of low priority, and an operation of normal
/// priority will start before the latter.
@Suite struct PriorityInversionTests {
  private let watched = WatchedQueue()
  private let high = BlockOperation {}
  private let low = BlockOperation {}
  private let overtaking = BlockOperation {}
  private let start = MonitorTime.now

  init() {
    watched.fillSlot()
    high.queuePriority = .high
    low.queuePriority = .low
    high.addDependency(low)
  }

  private func add(_ operations: BlockOperation...) {
    watched.queue.addOperations(operations, waitUntilFinished: false)
    watched.read(at: start)
  }

  /// The warnings about priority inversions that exist 60 s after the start, when all inversions
  /// have lasted long enough.
  private var warnings: [MonitorWarning] {
    watched.warnings(of: .priorityInversion, at: start + .seconds(60))
  }

  @Test func aPriorityInversionHasAWarningAfterASecond() throws {
    add(high, low, overtaking)
    #expect(watched.table.nextWarning(after: start) == start + .seconds(1))
    let early = watched.warnings(of: .priorityInversion, at: start + .milliseconds(999))
    #expect(early.isEmpty)
    let warning = try #require(
      watched.warnings(of: .priorityInversion, at: start + .seconds(1)).first)
    #expect(warning.operations == [.init(high)] && warning.awaited == [.init(low)])
    #expect(warning.count == 1 && warning.since == start)
    watched.finishAll()
    watched.read()
    #expect(warnings.isEmpty)
  }

  @Test("The result does not depend on the order of reports and changes")
  func anyOrder() {
    add(low, overtaking)
    #expect(warnings.isEmpty)
    add(high)
    #expect(warnings.count == 1)
    for (operation, priority, isInverted) in [
      (high, .normal, false), (high, .veryHigh, true), (low, .normal, false),
      (low, .veryLow, true), (overtaking, .veryLow, false), (overtaking, .low, true),
    ] as [(Operation, Operation.QueuePriority, Bool)] {
      operation.queuePriority = priority
      watched.read(at: start)
      #expect(warnings.isEmpty == !isInverted, "\(operation) \(priority)")
    }
    high.removeDependency(low)
    watched.read(at: start)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func anInversionIsFoundIfTheHighOperationIsReportedFirst() {
    add(high, overtaking)
    add(low)
    #expect(warnings.map(\.operations) == [[.init(high)]])
    watched.finishAll()
  }

  @Test func withoutAnOvertakingOperationThereIsNoInversion() {
    add(high, low)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func anotherDependencyDoesNotOvertake() {
    high.addDependency(overtaking)
    add(high, low, overtaking)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func normalOperationsHaveNoInversion() {
    let normal = BlockOperation {}
    normal.addDependency(low)
    high.removeDependency(low)
    high.addDependency(overtaking)
    add(high, low, overtaking, normal)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func aLowOperationThatWaitsForAnotherIsNotHeldUpByItsPriority() {
    let other = BlockOperation {}
    low.addDependency(other)
    add(high, low, overtaking, other)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func aLowOperationThatRunsIsNotHeldUpByItsPriority() {
    let gate = Gate()
    let running = BlockOperation { gate.pass() }
    running.queuePriority = .low
    high.removeDependency(low)
    high.addDependency(running)
    watched.queue.maxConcurrentOperationCount = 2
    watched.queue.addOperation(running)
    gate.waitForArrivals(1)
    add(high, overtaking)
    #expect(warnings.isEmpty)
    gate.open()
    watched.finishAll()
  }

  @Test func aSuspendedQueueHasNoInversion() {
    watched.queue.isSuspended = true
    add(high, low, overtaking)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func aCancelledOperationHasNoInversion() {
    add(high, low, overtaking)
    high.cancel()
    watched.read(at: start)
    #expect(warnings.isEmpty)
    watched.finishAll()
  }

  @Test func theFirstWaitingOperationsAreNamed() throws {
    let others = (0..<200).map { _ in
      let operation = BlockOperation {}
      operation.queuePriority = .veryHigh
      operation.addDependency(low)
      return operation
    }
    watched.queue.addOperations(others, waitUntilFinished: false)
    add(low, overtaking)
    let warning = try #require(warnings.first)
    #expect(warning.operations.count == MonitorWarning.operationLimit && warning.count == 1)
    watched.finishAll()
  }
}
