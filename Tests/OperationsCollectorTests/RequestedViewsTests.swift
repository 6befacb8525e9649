// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import MonitorProtocol
import Operations
import OperationsCollector
import Synchronization
import TestSupport
import Testing

/// Tests of run orders, groups and times of queues that a session of this process requests.
@Suite(.serialized) struct RequestedViewsTests {
  /// Waits for updates of a session.
  private final class UpdateReader: Sendable {
    private let news = DispatchSemaphore(value: 0)
    let session: MonitorSession

    init(_ interest: Interest = Interest(rowLimit: 0)) {
      session = MonitorSession(
        minimumInterval: .milliseconds(1), interest: interest, isReadOnly: true
      ) { [news] in news.signal() }
    }

    /// Waits until an update satisfies a predicate. Returns `false` if none does so in a minute.
    func waitFor(_ predicate: (Update) -> Bool) -> Bool {
      let limit = DispatchTime.now() + .seconds(60)
      while true {
        for case .update(let update) in session.takeMessages() where predicate(update) {
          return true
        }
        if news.wait(timeout: limit) == .timedOut { return false }
      }
    }
  }

  @Test("RO-1: A request for a run order is answered although nothing changes")
  func orderAtRest() {
    let queue = OperationQueue()
    queue.name = "requested order"
    queue.isSuspended = true
    let operations = (0..<3).map { _ in BlockOperation {} }
    operations[2].queuePriority = .high
    queue.addOperations(operations, waitUntilFinished: false)
    let id = QueueReport.ID(queue.id.rawValue)
    let ids = [2, 0, 1].map { OperationReport.ID(operations[$0].id.rawValue) }
    let reader = UpdateReader()
    #expect(reader.waitFor { $0.queues.first { $0.id == id }?.counts.ready == 3 })
    var interest = Interest(rowLimit: 0)
    for limit in 1...3 {
      interest.runOrder = .init(queues: [id], limit: limit, includesOperations: true)
      reader.session.watch(interest)
      #expect(reader.waitFor { $0.runOrders.first?.ready == Array(ids.prefix(limit)) })
    }
    interest.runOrder = nil
    interest.order = SortOrder(by: .position)
    interest.filter = try? OperationFilter("queue:=\"requested order\"")
    interest.rowLimit = 1
    reader.session.watch(interest)
    // The viewer already has all three operations. Only the first one stays in the list.
    #expect(reader.waitFor { Set($0.removed) == Set(ids.dropFirst()) })
    operations[1].queuePriority = .veryHigh
    #expect(reader.waitFor { $0.changed.contains { $0.id == ids[2] } })
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("GC-2: A request for groups is answered although nothing changes")
  func groupsAtRest() {
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<3_000 { queue.addOperation {} }
    let key = OperationGroups.Key.queue(.init(queue.id.rawValue))
    let reader = UpdateReader()
    #expect(reader.waitFor { $0.keptCount >= 3_000 })
    var interest = Interest(rowLimit: 0)
    interest.groups = .init(by: .queue)
    reader.session.watch(interest)
    #expect(
      reader.waitFor {
        $0.groups?.groups.first { $0.key == key }?.counts
          == StateCounts(ready: 3_000, held: 3_000, total: 3_000)
      })
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("QC-3: The times of a queue are sent after its last change, although others still execute")
  func timesAfterTheLastChange() {
    let gate = Gate()
    let busy = OperationQueue()
    busy.addOperation { gate.pass() }
    gate.waitForArrivals(1)
    let queue = OperationQueue()
    let id = QueueReport.ID(queue.id.rawValue)
    var interest = Interest(rowLimit: 0)
    interest.queueTimes = true
    let reader = UpdateReader(interest)
    for count in 1...3 {
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      if count == 1 {
        #expect(reader.waitFor { $0.queues.first { $0.id == id }?.times?.run?.count == 1 })
      }
    }
    #expect(reader.waitFor { $0.queues.first { $0.id == id }?.times?.run?.count == 3 })
    gate.open()
    busy.waitUntilAllOperationsAreFinished()
  }
}
