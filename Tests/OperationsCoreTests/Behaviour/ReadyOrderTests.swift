// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FixtureSupport
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The order of a queue's ready operations")
struct ReadyOrderTests {
  private static let priorities: [Operation.QueuePriority] = [
    .veryLow, .low, .normal, .high, .veryHigh,
  ]

  /// A suspended queue of width 1, and the operations that it has started.
  private final class Recorded: Sendable {
    let queue = OperationQueue(unlistedNamed: "recorded")
    let started = EventLog<OperationID>()

    init() {
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
    }

    func add(_ priority: Operation.QueuePriority = .normal) -> Operation {
      let operation = BlockOperation()
      operation.queuePriority = priority
      let id = operation.id
      operation.addExecutionBlock { [started] in started.note(id) }
      queue.addOperation(operation)
      return operation
    }

    /// Resumes the queue, and returns the operations in the order in which it has started them.
    func run() -> [OperationID] {
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      return started.events
    }
  }

  @Test(
    "RO-1, RO-3: A suspended queue starts its operations in the order that was read",
    arguments: 1...40)
  func order(seed: UInt64) async throws {
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      let recorded = Recorded()
      var operations: [Operation] = []
      var cancelled: Set<OperationID> = []
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        let chosen = operations.randomElement(using: &random)
        switch Int.random(in: 0...9, using: &random) {
        case 0:
          guard let chosen else { continue }
          chosen.cancel()
          cancelled.insert(chosen.id)
        case 1, 2:
          chosen?.queuePriority = Self.priorities.randomElement(using: &random) ?? .normal
        case 3: recorded.queue.addBarrierBlock {}
        default:
          let priority = Self.priorities.randomElement(using: &random) ?? .normal
          operations.append(recorded.add(priority))
        }
      }
      let order = recorded.queue.readyOrder(limit: .max)
      #expect(order.operations.count == operations.count && !order.isCut)
      #expect(Set(order.operations) == Set(operations.map(\.id)))
      #expect(recorded.run() == order.operations.filter { !cancelled.contains($0) })
    }
  }

  @Test("RO-1: The order of a queue whose slots are taken is the order of its next starts")
  func takenSlots() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      let gate = Gate()
      recorded.queue.isSuspended = false
      recorded.queue.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      let operations = Self.priorities.map { recorded.add($0) }
      let waiting = BlockOperation {}
      waiting.addDependency(operations[0])
      recorded.queue.addOperation(waiting)
      let order = recorded.queue.readyOrder(limit: .max)
      #expect(order.operations == operations.reversed().map(\.id))
      gate.open()
      #expect(recorded.run() == order.operations)
    }
  }

  @Test("RO-1: A cancelled operation is first, because the queue only finishes it")
  func cancelledOperations() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      let operations = [recorded.add(.high), recorded.add(.veryLow), recorded.add()]
      operations[1].cancel()
      let order = recorded.queue.readyOrder(limit: .max)
      #expect(order.operations == [1, 0, 2].map { operations[$0].id })
      #expect(recorded.run() == [0, 2].map { operations[$0].id })
    }
  }

  @Test("RO-2: An operation of high priority behind a barrier follows the operations before it")
  func barriers() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      var operations = [recorded.add(.low)]
      recorded.queue.addBarrierBlock {}
      operations.append(recorded.add(.veryHigh))
      recorded.queue.addBarrierBlock {}
      operations.append(recorded.add(.veryHigh))
      let order = recorded.queue.readyOrder(limit: .max)
      #expect(order.operations == operations.map(\.id) && !order.isCut)
      #expect(recorded.run() == order.operations)
    }
  }

  @Test("RO-5: The order has only as many operations as requested")
  func limits() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      let operations = (0..<10).map { _ in recorded.add() }
      recorded.queue.addBarrierBlock {}
      let last = recorded.add()
      #expect(recorded.queue.readyOrder(limit: 3).operations == operations.prefix(3).map(\.id))
      #expect(recorded.queue.readyOrder(limit: 3).isCut)
      #expect(recorded.queue.readyOrder(limit: 10).isCut)
      #expect(recorded.queue.readyOrder(limit: 11).operations.last == last.id)
      #expect(!recorded.queue.readyOrder(limit: 11).isCut)
      for limit in [0, -1, .min] {
        #expect(recorded.queue.readyOrder(limit: limit).operations.isEmpty)
        #expect(recorded.queue.readyOrder(limit: limit).isCut)
      }
      #expect(!OperationQueue(unlistedNamed: "empty").readyOrder(limit: 0).isCut)
      _ = recorded.run()
    }
  }

  @Test("RO-5: The number of barriers that one reading of the order examines is limited")
  func manyBarriers() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      for _ in 0..<20 { recorded.queue.addBarrierBlock {} }
      let last = recorded.add()
      #expect(recorded.queue.readyOrder(limit: 19).operations.isEmpty)
      #expect(recorded.queue.readyOrder(limit: 19).isCut)
      #expect(recorded.queue.readyOrder(limit: 20).operations == [last.id])
      _ = recorded.run()
    }
  }

  @Test("RO-1: The order is read together with the changes of the queue")
  func orderOfReading() async throws {
    try await onOwnThread {
      let recorded = Recorded()
      let collector = CollectorID()
      MonitorLevel.raise()
      defer { MonitorLevel.lower() }
      recorded.queue.core.keepRecords(for: collector, replaces: true) {}
      let operations = (0..<4).map { _ in recorded.add() }
      #expect(recorded.queue.takeChanges(for: collector, limit: 2, readyLimit: 9).readyOrder == nil)
      let changes = recorded.queue.takeChanges(for: collector, limit: 3, readyLimit: 9)
      #expect(changes.readyOrder?.operations == operations.map(\.id))
      #expect(recorded.queue.takeChanges(for: collector, limit: 9).readyOrder == nil)
      _ = recorded.run()
    }
  }
}
