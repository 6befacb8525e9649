// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Waiting and completion blocks")
struct WaitingTests {
  @Test("SR-14657, WA-1, WA-5: on return it has left its queue and its dependents are released")
  func guaranteesOnReturn() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for round in 0..<Effort.scaled(2_000) {
        let operation = round.isMultiple(of: 2) ? BlockOperation {} : PlainSubclass()
        let dependent = Operation()
        dependent.addDependency(operation)
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(queue.operationCount == 0 && queue.operations.isEmpty && dependent.isReady)
      }
    }
  }

  @Test("WA-1: waiting for a finished operation returns at once, however often")
  func waitingLate() async throws {
    try await onOwnThread {
      let operation = Operation()
      operation.start()
      operation.waitUntilFinished()
      operation.waitUntilFinished()
    }
  }

  @Test("WA-3: several threads wait for an operation that another one starts later")
  func unqueued() async throws {
    try await onOwnThread {
      for operation in [Operation(), BlockOperation {}, LockedAsynchronousOperation()] {
        let log = EventLog<Int>()
        for thread in 0..<4 {
          startThread {
            operation.waitUntilFinished()
            log.note(thread)
          }
        }
        operation.start()
        log.wait(forCount: 4)
        #expect(operation.isFinished)
      }
    }
  }

  @Test("WA-4: a waiter never calls an override of isFinished")
  func noPolling() async throws {
    try await onOwnThread {
      final class Counting: PlainSubclass, @unchecked Sendable {
        let waiter = Monitored(false)
        override var isFinished: Bool {
          if OperationQueue.current == nil { waiter.change { $0 = true } }
          return super.isFinished
        }
      }
      let queue = OperationQueue()
      let operation = Counting()
      queue.isSuspended = true
      queue.addOperation(operation)
      queue.isSuspended = false
      operation.waitUntilFinished()
      #expect(!operation.waiter.value)
    }
  }

  @Test("F-9, CB-1, CB-3: the completion block runs once, after the finish, and is cleared")
  func completionBlock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<[Bool]>()
      for make in Self.makers {
        let count = log.events.count
        let operation = make()
        operation.completionBlock = { [unowned operation] in
          log.note([operation.isFinished, operation.completionBlock == nil])
        }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        operation.start()
        log.wait(forCount: count + 1)
      }
      #expect(log.events == Array(repeating: [true, true], count: Self.makers.count))
    }
  }

  private static let makers: [@Sendable () -> Operation] = [
    { Operation() }, { BlockOperation {} }, { PlainSubclass() }, { LockedAsynchronousOperation() },
  ]

  @Test("CB-4: a block that is set after the finish is neither run nor kept")
  func completionBlockTooLate() {
    let log = EventLog<String>()
    let operation = Operation()
    operation.start()
    do {
      let probe = DeinitProbe("released", in: log)
      operation.completionBlock = { probe.touch() }
    }
    #expect(operation.completionBlock == nil && log.events == ["released"])
  }

  @Test("CB-5: only the last block that was set runs; a replaced one is released at once")
  func replacedCompletionBlock() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = Operation()
      do {
        let probe = DeinitProbe("first released", in: log)
        operation.completionBlock = {
          probe.touch()
          log.note("first")
        }
      }
      operation.completionBlock = { log.note("second") }
      #expect(log.events == ["first released"])
      operation.start()
      log.wait(for: "second")
      #expect(log.events == ["first released", "second"])
    }
  }

  @Test("CB-2, CB-6: dependents, waiters and the next operation do not wait for it")
  func noWaiterWaitsForTheCompletionBlock() async throws {
    try await onOwnThread {
      let gate = Gate()
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let operation = BlockOperation {}
      operation.completionBlock = { gate.pass() }
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      queue.addOperations([operation, dependent], waitUntilFinished: true)
      queue.waitUntilAllOperationsAreFinished()
      gate.waitForArrivals(1)
      gate.open()
    }
  }

  @Test("CB-8: the operation lives until its completion block has run")
  func livesUntilItsCompletionBlockHasRun() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let gate = Gate()
      do {
        let operation = PlainSubclass(atDeinit: { log.note("released") })
        operation.completionBlock = {
          gate.pass()
          log.note("completion")
        }
        operation.start()
      }
      gate.waitForArrivals(1)
      #expect(log.events.isEmpty)
      gate.open()
      log.wait(for: "released")
      #expect(log.events == ["completion", "released"])
    }
  }

  @Test("F-3, CB-9: if it finishes before its start and is then started, the block runs once")
  func finishedTwice() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      do {
        let probe = DeinitProbe("released", in: log)
        let operation = LockedAsynchronousOperation {
          probe.touch()
          log.note("work")
        }
        operation.completionBlock = { log.note("completion") }
        operation.cancel()
        operation.cancel()
        operation.didChangeValue(forKey: "isFinished")
        operation.start()
      }
      // The release is the last event of an operation: after the release, the library has no
      // further code to run for this operation.
      log.wait(for: "released")
      #expect(log.events == ["completion", "released"])
    }
  }

  @Test("CB-4: a setter that races the finish runs the block once or never")
  func setterRacesFinish() async throws {
    try await onOwnThread {
      let rounds = Effort.scaled(2_000)
      let counts = Monitored([Int](repeating: 0, count: rounds))
      let released = Monitored(0)
      let pace = Pace()
      let box = Monitored<Operation?>(nil)
      startThread {
        for round in 0..<rounds {
          pace.await(2 * round + 1)
          box.value?.start()
          pace.advance(to: 2 * round + 2)
        }
      }
      for round in 0..<rounds {
        let operation = PlainSubclass(atDeinit: { released.change { $0 += 1 } })
        box.change { $0 = operation }
        pace.advance(to: 2 * round + 1)
        operation.completionBlock = { counts.change { $0[round] += 1 } }
        pace.await(2 * round + 2)
      }
      box.change { $0 = nil }
      // When all operations have been released, the library can run no further completion block, so
      // the counts are final.
      released.wait(for: "all operations to be released") { $0 == rounds }
      #expect(counts.value.allSatisfy { $0 <= 1 })
    }
  }
}
