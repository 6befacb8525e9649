// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite struct OwnReadinessTests {
  /// An operation that is ready when its dependencies have finished and its own condition is met.
  private final class Conditional: Operation, @unchecked Sendable {
    private let isAllowed: Atomic<Bool>

    init(isAllowed: Bool) { self.isAllowed = Atomic(isAllowed) }

    override var isReady: Bool { super.isReady && isAllowed.load(ordering: .acquiring) }

    /// Changes the condition, which is part of `isReady`, without announcing the change.
    func set(_ isAllowed: Bool) { self.isAllowed.store(isAllowed, ordering: .releasing) }

    func allow() {
      set(true)
      didChangeValue(forKey: "isReady")
    }
  }

  private let watched = WatchedQueue()
  private let kind = MonitorWarning.Kind.notReadyWithMetDependencies

  /// Adds another operation and waits for it. The queue has then read the `isReady` of the tested
  /// operation, which was added earlier.
  private func waitUntilAsked() {
    let behind = BlockOperation {}
    watched.queue.addOperation(behind)
    behind.waitUntilFinished()
  }

  @Test func anOperationThatIsNotReadyByItselfHasAWarningAfterThreeSeconds() throws {
    let operation = Conditional(isAllowed: false)
    watched.queue.addOperation(operation)
    let now = MonitorTime.now
    watched.read(at: now)
    #expect(watched.table.nextWarning(after: now) == now + .seconds(3))
    #expect(watched.warnings(of: kind, at: now + .milliseconds(2_999)).isEmpty)
    let warning = try #require(watched.warnings(of: kind, at: now + .seconds(3)).first)
    #expect(warning.operations == [.init(operation)] && warning.count == 1)
    #expect(warning.since == now)
    operation.allow()
    watched.finishAll()
    watched.read()
    #expect(watched.warnings(of: kind, at: now + .seconds(60)).isEmpty)
  }

  @Test func anOperationWithAnUnmetDependencyHasNoWarning() {
    watched.queue.isSuspended = true
    let dependency = BlockOperation {}
    let plain = BlockOperation {}
    let operation = Conditional(isAllowed: false)
    for waiting in [plain, operation] { waiting.addDependency(dependency) }
    watched.queue.addOperations([dependency, plain, operation], waitUntilFinished: false)
    watched.read()
    #expect(watched.warnings(of: kind, at: MonitorTime.now + .seconds(3_600)).isEmpty)
    operation.allow()
    watched.finishAll()
  }

  @Test func theTimeBeginsWhenTheLastDependencyIsMet() throws {
    let gate = Gate()
    let dependency = BlockOperation { gate.pass() }
    let operation = Conditional(isAllowed: false)
    operation.addDependency(dependency)
    watched.queue.maxConcurrentOperationCount = 1
    watched.queue.addOperations([dependency, operation], waitUntilFinished: false)
    let start = MonitorTime.now
    watched.read(at: start)
    gate.open()
    dependency.waitUntilFinished()
    waitUntilAsked()
    watched.read(at: start + .seconds(10))
    #expect(watched.warnings(of: kind, at: start + .seconds(12)).isEmpty)
    #expect(
      watched.warnings(of: kind, at: start + .seconds(13)).map(\.operations) == [[.init(operation)]]
    )
    operation.allow()
    watched.finishAll()
  }

  @Test func aCancelledOperationHasNoWarning() {
    watched.queue.isSuspended = true
    let operation = Conditional(isAllowed: false)
    watched.queue.addOperation(operation)
    operation.cancel()
    watched.read()
    #expect(watched.warnings(of: kind, at: MonitorTime.now + .seconds(3_600)).isEmpty)
    watched.finishAll()
  }

  @Test func anOperationThatIsNotReadyAtItsStartHasNotStarted() throws {
    let operation = Conditional(isAllowed: true)
    watched.queue.isSuspended = true
    watched.queue.maxConcurrentOperationCount = 1
    watched.queue.addOperation(operation)
    operation.set(false)
    watched.queue.isSuspended = false
    waitUntilAsked()
    let now = MonitorTime.now
    watched.read(at: now)
    let report = try #require(watched.table.report(.init(operation)))
    #expect(report.state == .waiting && report.started == nil)
    #expect(watched.table.running.count == 0)
    #expect(watched.warnings(of: kind, at: now + .seconds(3)).count == 1)
    operation.allow()
    watched.finishAll()
  }
}
