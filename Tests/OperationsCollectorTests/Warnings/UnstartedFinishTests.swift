// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite struct UnstartedFinishTests {
  /// An operation that announces its finish even if it was not started.
  private final class SelfFinishing: Operation, @unchecked Sendable {
    private let hasFinished = Atomic(false)

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

    override func start() { finish() }

    func finish() {
      willChangeValue(forKey: "isFinished")
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isFinished")
    }
  }

  private let watched = WatchedQueue()

  private func warnings(_ watched: WatchedQueue) -> [MonitorWarning] {
    watched.warnings(of: .finishedWithoutStart, at: MonitorTime.now)
  }

  private func add(_ count: Int) -> [SelfFinishing] {
    let operations = (0..<count).map { _ in SelfFinishing() }
    watched.queue.addOperations(operations, waitUntilFinished: false)
    return operations
  }

  @Test func anOperationThatFinishesBeforeItsStartHasAWarning() throws {
    watched.queue.isSuspended = true
    let operations = add(8)
    watched.read()
    #expect(warnings(watched).isEmpty)
    for operation in operations.prefix(7) {
      operation.finish()
      watched.read()
    }
    let warning = try #require(warnings(watched).first)
    #expect(warning.count == 7)
    #expect(warning.operations == operations[2..<7].reversed().map { .init($0) })
    #expect(warning.title == "SelfFinishing")
    watched.finishAll()
    watched.read()
    #expect(warnings(watched).first?.count == 7)
  }

  @Test func aStartedOperationThatFinishesEarlyHasNoWarning() {
    _ = add(20)
    watched.queue.addOperations(
      (0..<20).map { _ in BlockOperation {} }, waitUntilFinished: true)
    watched.finishAll()
    watched.read()
    #expect(watched.table.entries.values.allSatisfy { $0.report.state == .finished })
    #expect(watched.table.entries.count == 40 && warnings(watched).isEmpty)
  }

  @Test func aCancelledOperationHasNoWarning() {
    watched.queue.isSuspended = true
    for operation in add(3) {
      operation.cancel()
      operation.finish()
    }
    watched.finishAll()
    watched.read()
    #expect(warnings(watched).isEmpty)
  }

  @Test func anOperationAddedBeforeWatchingHasNoWarning() {
    let queue = OperationQueue(unlistedNamed: "early")
    queue.isSuspended = true
    let operation = SelfFinishing()
    queue.addOperation(operation)
    let late = WatchedQueue(queue)
    late.read()
    operation.finish()
    late.read()
    #expect(late.table.report(.init(operation))?.state == .finished)
    #expect(warnings(late).isEmpty)
    late.finishAll()
  }

  @Test func anOperationPossiblyStartedWhileUnwatchedHasNoWarning() {
    let gate = Gate()
    watched.queue.isSuspended = true
    let operation = BlockOperation { gate.pass() }
    watched.queue.addOperation(operation)
    watched.read()
    watched.stop()
    watched.queue.isSuspended = false
    gate.waitForArrivals(1)
    let again = WatchedQueue(watched.queue)
    again.table.unstartedFinishes.beginWatching(at: MonitorTime.now)
    again.read()
    gate.open()
    again.finishAll()
    again.read()
    let report = again.table.report(.init(operation))
    #expect(report?.state == .finished && report?.added != nil && report?.started == nil)
    #expect(warnings(again).isEmpty)
  }
}
