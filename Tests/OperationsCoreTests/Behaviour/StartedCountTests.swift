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

  @Test("QC-1: An operation that its queue takes back does not count")
  func operationsThatWereNotReady() async throws {
    final class Stubborn: Operation, @unchecked Sendable {
      let isAllowed = Monitored(false)
      override var isReady: Bool { super.isReady && isAllowed.value }
    }
    try await onOwnThread {
      let operation = Stubborn()
      self.queue.addOperation(operation)
      #expect(self.startedCount() == 0)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(self.startedCount() == 0)
    }
  }
}
