// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OperationsCore
@testable import OperationsCollector

@Suite("The run orders that a session sends")
struct RunOrderTests {
  private typealias ID = OperationReport.ID
  private let watched = WatchedQueue()

  /// Adds operations with these priorities.
  private func add(_ priorities: [Operation.QueuePriority]) -> [ID] {
    let operations = priorities.map { priority in
      let operation = BlockOperation {}
      operation.queuePriority = priority
      return operation
    }
    watched.queue.addOperations(operations, waitUntilFinished: false)
    return operations.map { ID($0) }
  }

  private func interest(
    _ queues: Set<QueueReport.ID> = [], limit: Int = WireLimits.mostRunOrderOperations,
    rowLimit: Int = 0, includesOperations: Bool = false
  ) -> Interest {
    var interest = Interest(rowLimit: rowLimit)
    interest.runOrder = .init(
      queues: queues, limit: limit, includesOperations: includesOperations)
    return interest
  }

  @Test("RO-1, RO-3: A session sends the order of the ready operations, also of a suspended queue")
  func order() {
    watched.fillSlot()
    let ids = add([.low, .normal, .veryHigh, .normal])
    let expected = [2, 1, 3, 0].map { ids[$0] }
    let order = watched.update(interest()).runOrders
    #expect(order.map(\.ready) == [expected] && order.map(\.isCut) == [false])
    #expect(order.map(\.executing.count) == [1] && order.map(\.isEstimated) == [false])
    watched.queue.isSuspended = true
    #expect(watched.update(interest()).runOrders.map(\.ready) == [expected])
    watched.finishAll()
    #expect(watched.update(interest()).runOrders.isEmpty)
  }

  @Test("RO-1: A session that does not request orders gets none, and the queue reads none")
  func noRequest() {
    watched.queue.isSuspended = true
    _ = add([.normal, .normal])
    _ = watched.update(interest())
    #expect(watched.table.readyOrders.count == 1)
    #expect(watched.update(Interest()).runOrders.isEmpty)
    #expect(watched.table.readyOrders.isEmpty && watched.table.readyLimit(of: watched.id) == 0)
    watched.finishAll()
  }

  @Test("RO-4: The executing operations are sent, the longest run first")
  func executing() {
    let gate = Gate()
    watched.queue.maxConcurrentOperationCount = 3
    var ids: [ID] = []
    // The ids are in the opposite order of the starts.
    let operations = (0..<3).map { _ in BlockOperation { gate.pass() } }
    for operation in operations.reversed() { ids.append(ID(operation)) }
    for (index, operation) in operations.enumerated() {
      watched.queue.addOperation(operation)
      gate.waitForArrivals(index + 1)
    }
    #expect(watched.update(interest()).runOrders.map(\.executing) == [ids.reversed()])
    #expect(watched.update(interest(limit: 2)).runOrders.map(\.executing) == [[ids[2], ids[1]]])
    gate.open()
    watched.finishAll()
  }

  @Test("RO-5: An order has at most the requested number of operations, and says whether it is cut")
  func limits() {
    watched.queue.isSuspended = true
    let ids = add(Array(repeating: .normal, count: 600))
    let cut = watched.update(interest(limit: 3)).runOrders
    #expect(cut.map(\.ready) == [Array(ids.prefix(3))] && cut.map(\.isCut) == [true])
    for limit in [500, 501, .max] {
      let most = watched.update(interest(limit: limit)).runOrders
      #expect(most.map(\.ready.count) == [500] && most.map(\.isCut) == [true])
    }
    #expect(watched.update(interest(limit: -1)).runOrders.map(\.ready) == [[]])
    watched.finishAll()
  }

  @Test("RO-5: All orders of an update together have at most 5,000 operations")
  func sharedLimit() {
    let orders = (1...64).map { number in
      RunOrder(
        queue: .init(UInt64(number)), executing: (0..<number).map { ID(UInt64($0)) },
        ready: (0..<500).map { ID(UInt64($0)) })
    }
    let fitting = RunOrder.fitting(orders)
    let count = fitting.reduce(0) { $0 + $1.executing.count + $1.ready.count }
    #expect(count <= WireLimits.mostRunOrderIDs && count > WireLimits.mostRunOrderIDs / 2)
    #expect(fitting.allSatisfy { $0.isCut && !$0.ready.isEmpty })
    #expect(RunOrder.fitting(Array(orders.prefix(9))) == Array(orders.prefix(9)))
  }

  @Test(
    "RO-5: Only queues with ready operations share the operations of a list that is sorted by position"
  )
  func sharesOfQueues() {
    watched.queue.isSuspended = true
    watched.add(kinds: Array(repeating: "tile", count: 30))
    for number in 1...20_000 {
      let id = QueueReport.ID(UInt64(number) << 32)
      watched.table.queues[id] = QueueReport(id: id, name: "idle")
    }
    _ = watched.update(Interest(order: SortOrder(by: .position), rowLimit: 1))
    #expect(watched.table.readyQueueCount == 1 && watched.table.positions.count == 30)
    watched.finishAll()
    watched.read()
    #expect(watched.table.readyQueueCount == 0)
    // If very many queues have ready operations, each of them has a small share.
    watched.table.readyQueueCount = 10_000
    #expect(watched.table.readyLimit(of: watched.id) == 2)
    watched.table.keepQueues([watched.id])
    #expect(watched.table.readyQueueCount == 0)
  }

  @Test("RO-5: Only the orders that are sent are read, those of 64 busy queues with the lowest ids")
  func chosenQueues() {
    let earlier = (0..<64).map { _ in OperationQueue(unlistedNamed: "earlier") }
    let watched = WatchedQueue()
    let table = watched.table
    watched.queue.isSuspended = true
    let operations = watched.add(kinds: Array(repeating: "tile", count: 600))
    let ids = operations.prefix(500).map { ID($0) }
    func addBusyQueue(_ number: UInt64) {
      let id = QueueReport.ID(number)
      table.queues[id] = QueueReport(id: id, name: "", counts: StateCounts(ready: 1))
    }
    for number in 1...20_000 as ClosedRange<UInt64> { addBusyQueue(number << 32) }
    let orders = watched.update(interest()).runOrders
    #expect(orders.count == WireLimits.mostRunOrders && orders[0].ready == ids)
    #expect(table.queues.keys.count { table.readyLimit(of: $0) > 0 } == WireLimits.mostRunOrders)
    // A list that is sorted by position needs the orders of all queues.
    var sorted = interest(rowLimit: 1)
    sorted.order = SortOrder(by: .position)
    table.readyQueueCount = 20_001
    table.keepList(for: SessionID(rawValue: 2), sorted, at: .now)
    #expect(table.queues.keys.allSatisfy { table.readyLimit(of: $0) > 0 })
    table.keepLists(of: [SessionID(rawValue: 1)])
    // Other queues displace this one, whose order is then no longer read.
    watched.read()
    #expect(table.readyOrders.keys.contains(watched.id))
    for queue in earlier { addBusyQueue(queue.id.rawValue) }
    watched.read()
    watched.read()
    #expect(table.readyOrders.isEmpty)
    watched.finishAll()
  }

  @Test("RO-5: The order of a queue is read in the reading in which the queue becomes busy")
  func newlyBusyQueue() {
    _ = watched.update(interest())
    watched.queue.isSuspended = true
    let ids = add([.normal, .normal])
    watched.read()
    #expect(
      watched.table.lists[SessionID(rawValue: 1)]?.takeUpdate(from: watched.table)
        .runOrders.map(\.ready) == [ids])
    watched.finishAll()
  }

  @Test("RO-8: On request, the operations in the order of a queue are sent, also without a list")
  func reports() {
    watched.queue.isSuspended = true
    let ids = add([.normal, .normal])
    #expect(watched.update(interest(includesOperations: true)).changed.isEmpty)
    #expect(watched.update(interest([watched.id])).changed.isEmpty)
    let request = interest([watched.id], includesOperations: true)
    #expect(watched.update(request).changed.map(\.id) == ids)
    #expect(watched.update(interest([.init(.max)])).runOrders.isEmpty)
    watched.finishAll()
  }

  // MARK: The list in the order of the queue

  private func rows(_ update: Update) -> Set<ID> { Set(update.changed.map(\.id)) }

  @Test("RO-6: A list that is sorted by position has the executing and the next operations first")
  func sortedList() {
    watched.fillSlot()
    let ids = add([.low, .normal, .high])
    let waiting = BlockOperation {}
    waiting.addDependency(BlockOperation {})
    watched.queue.addOperation(waiting)
    let sorted = Interest(order: SortOrder(by: .position), rowLimit: 3)
    let first = watched.update(sorted)
    #expect(first.changed.count == 3 && first.matchCount == 5)
    #expect(rows(first).isSuperset(of: [ids[2], ids[1]]) && !rows(first).contains(ID(waiting)))
    waiting.dependencies.forEach { waiting.removeDependency($0) }
    watched.finishAll()
  }

  @Test("RO-6: A change of a priority moves the operations of a list that is sorted by position")
  func changedPositions() throws {
    watched.queue.isSuspended = true
    let operations = watched.add(kinds: Array(repeating: "tile", count: 40))
    let sorted = Interest(order: SortOrder(by: .position), rowLimit: 2)
    #expect(rows(watched.update(sorted)) == Set(operations.prefix(2).map { ID($0) }))
    operations[30].queuePriority = .veryHigh
    operations[31].queuePriority = .veryHigh
    watched.read()
    let list = try #require(watched.table.lists[SessionID(rawValue: 1)])
    let update = list.takeUpdate(from: watched.table)
    #expect(rows(update) == Set(operations[30...31].map { ID($0) }))
    #expect(Set(update.removed) == Set(operations.prefix(2).map { ID($0) }))
    // The last operation in the reverse order is the first one.
    let reversed = Interest(order: SortOrder(by: .position, isReversed: true), rowLimit: 1)
    #expect(watched.update(reversed).changed.map(\.id) == [ID(operations[39])])
    watched.finishAll()
    watched.read()
    #expect(list.takeUpdate(from: watched.table).matchCount == 40)
  }

  @Test("RO-6: Operations that leave a list that is sorted by position leave no row behind")
  func ends() {
    let sorted = Interest(order: SortOrder(by: .position), hidesOver: true, rowLimit: 500)
    watched.fillSlot()
    let ids = add(Array(repeating: .normal, count: 20))
    #expect(watched.update(sorted).matchCount == 21)
    #expect(watched.table.positions[ids[19]] == 20)
    watched.finishAll()
    let update = watched.update(sorted)
    #expect(update.matchCount == 0 && update.removed.count == 21)
  }
}
