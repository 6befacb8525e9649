// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Barriers: cancelling, dependencies, lifetime")
struct BarrierCancellationTests {
  @Test("Q-11: cancelAllOperations keeps a barrier from running; later operations continue")
  func cancelAll() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      queue.addOperation { gate.pass() }
      queue.addBarrierBlock { log.note("cancelled barrier") }
      queue.addOperation { log.note("cancelled") }
      gate.waitForArrivals(1)
      queue.cancelAllOperations()
      queue.addOperation { log.note("later") }
      queue.addBarrierBlock { log.note("later barrier") }
      #expect(queue.operationCount == 3 && log.events.isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["later", "later barrier"])
    }
  }

  @Test("Q-11: a cancelled barrier does not run even if earlier operations end at once")
  func cancelAllWhereWhatIsAheadEndsAtOnce() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      for _ in 0..<Effort.scaled(200) {
        let running = PolitelyEndless()
        queue.addOperation(running)
        queue.addBarrierBlock { log.note("ran") }
        running.gate.waitForArrivals(1)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(log.events.isEmpty)
    }
  }

  @Test("BA-1, CA-6: a cancelled operation behind a barrier still waits for it")
  func cancelledBehind() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      queue.addBarrierBlock { gate.pass() }
      let operation = BlockOperation {}
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      operation.cancel()
      #expect(queue.operations == [operation] && operation.state == .ready)
      gate.open()
      operation.waitUntilFinished()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("D-10: an operation behind a barrier that finishes before its start leaves at once")
  func finishedBehind() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      queue.addBarrierBlock { gate.pass() }
      let operation = LockedAsynchronousOperation { log.note("ran") }
      queue.addOperation(operation)
      queue.addBarrierBlock { log.note("second barrier") }
      gate.waitForArrivals(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(queue.operationCount == 0 && log.events.isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["second barrier"])
    }
  }

  @Test("DE-8: an operation that depends on one behind a barrier waits until it is cancelled")
  func deadlock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let ahead = BlockOperation { log.note("ahead") }
      let behind = BlockOperation { log.note("behind") }
      ahead.addDependency(behind)
      queue.addOperation(ahead)
      queue.addBarrierBlock { log.note("barrier") }
      queue.addOperation(behind)
      #expect(queue.operations == [ahead, behind] && ahead.state == .waiting)
      ahead.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["barrier", "behind"])
    }
  }

  @Test("BA-1, DE-11: dependencies across a barrier, and across queues with barriers")
  func dependencies() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      let log = EventLog<String>()
      let gate = Gate()
      let first = BlockOperation {
        gate.pass()
        log.note("first")
      }
      let second = BlockOperation { log.note("second") }
      let third = BlockOperation { log.note("third") }
      third.addDependency(second)
      second.addDependency(first)
      queues[0].addOperation(first)
      queues[1].addOperation(second)
      for queue in queues { queue.addBarrierBlock { log.note("barrier") } }
      queues[0].addOperation(third)
      gate.waitForArrivals(1)
      #expect(third.state == .waiting && second.state == .waiting)
      gate.open()
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(log.events.filter { $0 != "barrier" } == ["first", "second", "third"])
      #expect(log.events.count == 5)
    }
  }

  @Test("BA-1: operations and barriers may add operations and barriers with dependencies")
  func addedFromInside() async throws {
    try await onOwnThread {
      for width in [1, -1] {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let log = EventLog<String>()
        queue.addOperation {
          queue.addBarrierBlock {
            log.note("barrier")
            queue.addOperation { log.note("after") }
            queue.addBarrierBlock { log.note("last") }
            log.note("end")
          }
          log.note("before")
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == ["before", "barrier", "end", "after", "last"])
      }
    }
  }

  @Test("Q-7: a barrier keeps a released queue alive; then both are released")
  func lifetime() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      do {
        let queue = NotedQueue(log)
        let probe = DeinitProbe("block released", in: log)
        queue.addBarrierBlock {
          gate.pass()
          probe.touch()
          log.note("ran")
        }
      }
      gate.waitForArrivals(1)
      #expect(log.events.isEmpty)
      gate.open()
      log.wait(for: "queue released")
      #expect(log.events == ["ran", "block released", "queue released"])
    }
  }

  @Test("Q-8, Q-11: a barrier that is cancelled in a suspended queue releases its block")
  func cancelledAndReleased() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      do {
        let queue = NotedQueue(log)
        queue.isSuspended = true
        let probe = DeinitProbe("block released", in: log)
        queue.addBarrierBlock {
          probe.touch()
          log.note("ran")
        }
        queue.cancelAllAndResume()
      }
      log.wait(for: "queue released")
      #expect(log.events == ["block released", "queue released"])
    }
  }
}

/// An operation that runs until it is cancelled. Its `cancel()` waits until the operation has left
/// the queue.
private final class PolitelyEndless: Operation, @unchecked Sendable {
  let gate = Gate()

  override func main() { gate.pass() }

  override func cancel() {
    super.cancel()
    gate.open()
    waitUntilFinished()
  }
}
