// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Barriers")
struct BarrierTests {
  private func operation(
    _ name: String, _ priority: Operation.QueuePriority = .normal, in log: EventLog<String>
  ) -> BlockOperation {
    let operation = BlockOperation { log.note(name) }
    operation.queuePriority = priority
    return operation
  }

  @Test(
    "BA-1, BA-3: it runs after all earlier operations and before all later ones",
    arguments: [1, 3, 100, OperationQueue.defaultMaxConcurrentOperationCount])
  func order(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let log = EventLog<String>()
      let gate = Gate()
      queue.addOperation { gate.pass() }
      for _ in 0..<3 { queue.addOperation(operation("before", .veryLow, in: log)) }
      let asynchronous = LockedAsynchronousOperation { log.note("before") }
      queue.addOperation(asynchronous)
      queue.addBarrierBlock { log.note("barrier \(asynchronous.isFinished)") }
      let late = (0..<3).map { _ in operation("after", .veryHigh, in: log) }
      queue.addOperations(late, waitUntilFinished: false)
      gate.waitForArrivals(1)
      #expect(late.allSatisfy { $0.state == .ready } && !log.events.contains("after"))
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(
        log.events == ["before", "before", "before", "before", "barrier true"]
          + ["after", "after", "after"])
    }
  }

  @Test("BA-1: it runs alone, and later operations run concurrently again")
  func alone() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 4
      let before = Gate()
      let during = Gate()
      let after = Gate()
      let log = EventLog<String>()
      for _ in 0..<4 { queue.addOperation { before.pass() } }
      queue.addBarrierBlock {
        log.note("barrier")
        during.pass()
        log.note("end")
      }
      for _ in 0..<4 {
        queue.addOperation {
          log.note("after")
          after.pass()
        }
      }
      before.waitForArrivals(4)
      before.open()
      during.waitForArrivals(1)
      // Operations that are added while the barrier executes also come after the barrier.
      queue.addOperation(operation("after", .veryHigh, in: log))
      #expect(queue.operationCount == 5 && log.events == ["barrier"])
      #expect(queue.operations.allSatisfy { $0.state == .ready })
      during.open()
      after.waitForArrivals(4)
      after.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["barrier", "end"] + Array(repeating: "after", count: 5))
    }
  }

  @Test(
    "F-7, BA-2: in an empty queue it runs on another thread, where the queue is the current one")
  func emptyQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<Bool>()
      let gate = Gate()
      queue.addBarrierBlock {
        gate.pass()
        log.note(OperationQueue.current === queue)
      }
      // If the thread that adds the barrier ran the barrier, it would wait at the gate and would
      // not reach the next call.
      gate.waitForArrivals(1)
      startThread {
        queue.waitUntilAllOperationsAreFinished()
        log.note(log.events == [true])
      }
      gate.open()
      log.wait(forCount: 2)
      #expect(log.events == [true, true], "Q-12: waiting for all operations includes the barrier")
    }
  }

  @Test("F-7, BA-2, BA-3, MX-2: it waits while the queue is suspended, or of width 0")
  func suspendedQueue() async throws {
    try await onOwnThread {
      for isSuspended in [true, false] {
        let queue = OperationQueue()
        queue.isSuspended = isSuspended
        if !isSuspended { queue.maxConcurrentOperationCount = 0 }
        let log = EventLog<String>()
        queue.addBarrierBlock { log.note("barrier") }
        queue.addOperation(operation("after", .veryHigh, in: log))
        startThread {
          queue.waitUntilAllOperationsAreFinished()
          log.note("waited")
        }
        #expect(queue.operationCount == 1 && log.events.isEmpty)
        queue.isSuspended = false
        queue.maxConcurrentOperationCount = 2
        log.wait(for: "waited")
        #expect(log.events == ["barrier", "after", "waited"])
      }
    }
  }

  @Test("BA-3, MX-7: a running barrier continues when the queue is suspended, and nothing follows")
  func suspendedWhileItRuns() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      queue.addBarrierBlock {
        gate.pass()
        log.note("first barrier")
      }
      gate.waitForArrivals(1)
      queue.addBarrierBlock { log.note("second barrier") }
      queue.isSuspended = true
      gate.open()
      log.wait(for: "first barrier")
      #expect(log.events == ["first barrier"])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["first barrier", "second barrier"])
    }
  }

  @Test("Q-9: it is not counted or listed, and monitors do not see it")
  func unseen() async throws {
    let queue = OperationQueue()
    let changes = queue.stateChanges()
    let operation = BlockOperation {}
    try await onOwnThread {
      queue.isSuspended = true
      let collector = CollectorID()
      queue.addOperation(operation)
      for _ in 0..<5 { queue.addBarrierBlock {} }
      #expect(queue.operations == [operation] && queue.operationCount == 1)
      queue.cancelAllOperations()
      for _ in 0..<5 { queue.addBarrierBlock {} }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let counts = queue.takeChanges(for: collector, limit: 0).counts
      #expect(counts.total == 1 && counts.finished + counts.cancelled == 1)
      #expect(counts.waiting + counts.ready + counts.executing + counts.cancelling == 0)
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
    }
    var heard: [OperationID] = []
    for await change in changes {
      heard.append(change.operation)
      if change.newState == .finished, change.operation != operation.id { break }
    }
    #expect(Set(heard).count == 2 && heard.prefix(4).allSatisfy { $0 == operation.id })
  }

  @Test("Q-5: priorities decide within a batch, and not across a barrier")
  func batches() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      for name in ["first", "second"] {
        queue.addOperations(
          [.veryLow, .normal, .veryHigh].map { operation("\(name) \($0)", $0, in: log) },
          waitUntilFinished: false)
        queue.addBarrierBlock { log.note("barrier") }
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(
        log.events == [
          "first veryHigh", "first normal", "first veryLow", "barrier",
          "second veryHigh", "second normal", "second veryLow", "barrier",
        ])
    }
  }

  @Test("Q-5: waiting for a batch does not wait for a barrier behind it")
  func batchWait() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      let operation = BlockOperation {
        queue.addBarrierBlock {
          gate.pass()
          log.note("barrier")
        }
      }
      queue.addOperations([operation], waitUntilFinished: true)
      #expect(log.events.isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["barrier"])
    }
  }

  @Test("F-14, BA-4: adding one takes no longer in a queue of 200,000 operations")
  func constantTime() async throws {
    try await onOwnThread {
      let clock = ContinuousClock()
      func time(holding count: Int) -> Duration {
        let queue = OperationQueue()
        queue.isSuspended = true
        for _ in 0..<count { queue.addOperation(BlockOperation()) }
        #expect(queue.operationCount == count)
        let rounds = (0..<5).map { _ in
          clock.measure {
            for _ in 0..<500 { queue.addBarrierBlock {} }
            // Reading `operationCount` makes the queue process the added operations.
            #expect(queue.operationCount == count)
          }
        }
        queue.cancelAllAndResume()
        queue.waitUntilAllOperationsAreFinished()
        return rounds.min() ?? .zero
      }
      // If the cost of adding a barrier grew with the number of operations in the queue, the longer
      // queue would take thousands of times as long.
      #expect(time(holding: Effort.scaled(200_000)) < time(holding: 10) * 50)
    }
  }
}
