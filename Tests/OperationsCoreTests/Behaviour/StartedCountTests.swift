// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("The number of a queue's operations that have begun to execute")
final class StartedCountTests: Sendable {
  private let queue = OperationQueue(unlistedNamed: "counted")
  private let collector = CollectorID()

  init() {
    MonitorLevel.raise()
    queue.core.keepRecords(for: collector, replaces: true) {}
  }

  deinit { MonitorLevel.lower() }

  private func startedCount() -> Int {
    queue.takeChanges(for: collector, limit: .max).startedCount
  }

  @Test("QC-1: Executing and finished operations count, and so do cancelled ones that ran")
  func operationsThatBegan() async throws {
    try await onOwnThread {
      let gate = Gate()
      let executing = BlockOperation { gate.pass() }
      let dependent = BlockOperation {}
      dependent.addDependency(executing)
      self.queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      self.queue.addOperations(
        [InvocationOperation { throw CancellationError() }], waitUntilFinished: true)
      self.queue.addOperations([executing, dependent], waitUntilFinished: false)
      gate.waitForArrivals(1)
      executing.cancel()
      #expect(self.startedCount() == 3)
      dependent.cancel()
      gate.open()
      self.queue.waitUntilAllOperationsAreFinished()
      #expect(self.startedCount() == 3)
    }
  }

  @Test(
    "QC-1: Operations that were cancelled before their start do not count", arguments: [1, 20_000])
  func cancelledOperations(count: Int) async throws {
    try await onOwnThread {
      self.queue.isSuspended = true
      for _ in 0..<count { self.queue.addOperation {} }
      self.queue.cancelAllOperations()
      #expect(self.startedCount() == 0)
      self.queue.isSuspended = false
      var counts: Set<Int> = []
      while self.queue.operationCount > 0 { counts.insert(self.startedCount()) }
      counts.insert(self.startedCount())
      #expect(counts == [0])
      self.queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(self.startedCount() == 1)
    }
  }

  @Test("QC-1: Operations without a record count")
  func unrecordedOperations() async throws {
    try await onOwnThread {
      _ = self.queue.takeChanges(for: self.collector, limit: .max, adopting: 0, newRecords: 0)
      for _ in 0..<10_000 { self.queue.addOperation {} }
      self.queue.waitUntilAllOperationsAreFinished()
      let changes = self.queue.takeChanges(
        for: self.collector, limit: .max, adopting: 0, newRecords: 0)
      #expect(changes.startedCount == 10_000 && changes.changed.isEmpty)
    }
  }

  @Test("QC-1: An operation counts if only its subclass has cancelled it")
  func operationsOfSubclassesThatWereCancelled() {
    let bench = SchedulerBench()
    bench.scheduler.monitor.keepRecords(for: collector, first: nil) {}
    let cancelled = SchedulerBench.operation("cancelled")
    let announced = SchedulerBench.operation("announced")
    bench.add([cancelled, announced])
    bench.change(cancelled) { $0.cancel(isAnnounced: false).mustPush }
    bench.change(announced) { $0.subclassWasCancelled().isNews && $0.claimPush() }
    #expect(bench.takeNext() === cancelled && bench.takeNext() === announced)
    announced.update { #expect($0.claimStart(isReady: true) == .run && $0.noteExecuting()) }
    #expect(bench.scheduler.startedCount == 1)
    bench.finish(announced)
    #expect(bench.scheduler.startedCount == 1)
    bench.finish(cancelled)
    #expect(bench.scheduler.startedCount == 1 && bench.scheduler.monitor.retiringCount == 0)
  }

  @Test("QC-1: An operation that its queue takes back does not count")
  func operationsThatWereNotReady() async throws {
    final class Stubborn: Operation, @unchecked Sendable {
      let isAllowed = Monitored(true)
      let isRefused = Monitored(false)
      override var isReady: Bool {
        if isAllowed.value { return super.isReady }
        isRefused.change { $0 = true }
        return false
      }
    }
    try await onOwnThread {
      let operation = Stubborn()
      self.queue.isSuspended = true
      self.queue.addOperation(operation)
      operation.isAllowed.change { $0 = false }
      self.queue.isSuspended = false
      operation.isRefused.wait(for: "a reading of isReady before the start") { $0 }
      let end = ContinuousClock.now + .seconds(20)
      while self.queue.schedulerContent.counts.executing > 0, ContinuousClock.now < end {}
      #expect(self.startedCount() == 0)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(self.startedCount() == 0)
    }
  }
}
