// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The order of operations that several threads add", .oneAtATime)
struct OrderRaceTests {
  /// The priority of an operation, the thread that added it, and its number among the operations of
  /// that thread.
  private struct Entry: Equatable, Sendable {
    let priority: Operation.QueuePriority
    let producer: Int
    let number: Int
  }

  private static let producerCount = 4

  @Test("PR-3: among operations of four threads, the priority decides, and then the order")
  func prioritiesAreStrict() async throws {
    try await onOwnThread {
      let log = EventLog<Entry>()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let count = Effort.scaled(2_000)
      Self.produce(count, into: queue, log) { Operation.QueuePriority.allCases[$0 % 5] }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let entries = log.events
      #expect(entries.count == Self.producerCount * count)
      let levels = entries.map(\.priority.rawValue)
      #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 >= $1 })
      Self.expectInOrder(entries)
    }
  }

  @Test("PR-3: while it runs, too, a queue of one slot keeps the order of each thread that adds")
  func firstInFirstOut() async throws {
    try await onOwnThread {
      let log = EventLog<Entry>()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let count = Effort.scaled(10_000)
      Self.produce(count, into: queue, log) { _ in .normal }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events.count == Self.producerCount * count)
      Self.expectInOrder(log.events)
    }
  }

  /// Each of the threads adds a number of operations, one by one and in batches of twelve.
  private static func produce(
    _ count: Int, into queue: OperationQueue, _ log: EventLog<Entry>,
    priority: @escaping @Sendable (_ number: Int) -> Operation.QueuePriority
  ) {
    onThreads(producerCount) { producer in
      let operations = (0..<count).map { number in
        let entry = Entry(priority: priority(number), producer: producer, number: number)
        let operation = BlockOperation { log.note(entry) }
        operation.queuePriority = entry.priority
        return operation
      }
      for start in stride(from: 0, to: count, by: 24) {
        let end = min(start + 12, count)
        queue.addOperations(Array(operations[start..<end]), waitUntilFinished: false)
        for operation in operations[end..<min(start + 24, count)] { queue.addOperation(operation) }
      }
    }
  }

  /// Expects that operations of the same thread and the same priority have executed in the order of
  /// their addition.
  private static func expectInOrder(_ entries: [Entry]) {
    for lane in Dictionary(grouping: entries, by: { [$0.producer, $0.priority.rawValue] }).values {
      let numbers = lane.map(\.number)
      #expect(numbers == numbers.sorted())
    }
  }
}
