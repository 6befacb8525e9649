// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import TestSupport
import Testing

@testable import OperationsCore

@Suite("Threads that cannot be started", .oneAtATime)
struct ThreadFailureTests {
  @Test("MX-14: after a thread could not be started, the queue goes on when it is used again")
  func recovery() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      let queue = OperationQueue(pool: starter.makePool())
      let first = BlockOperation {}
      starter.mode = .fails
      queue.addOperation(first)
      #expect(starter.failureCount > 0 && !first.isFinished)
      starter.mode = .succeeds
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      first.waitUntilFinished()
    }
  }

  @Test("MX-14: the threads that there are do the work of all queues")
  func existingWorkers() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      let pool = starter.makePool()
      let gate = Gate()
      let busy = OperationQueue(pool: pool)
      busy.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      starter.mode = .fails
      let others = [-1, 1, 8].map { width in
        let queue = OperationQueue(pool: pool)
        queue.maxConcurrentOperationCount = width
        for _ in 0..<10 { queue.addOperation {} }
        return queue
      }
      gate.open()
      for queue in others { queue.waitUntilAllOperationsAreFinished() }
      #expect(pool.threads.count == 1 && starter.failureCount > 0)
    }
  }

  @Test("MX-14: threads are tried again although nothing is added and the only worker is busy")
  func retries() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      let pool = starter.makePool()
      let gate = Gate()
      let busy = OperationQueue(pool: pool)
      busy.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      // The sampler can be started, and workers cannot.
      starter.mode = .failsTimes(3)
      starter.allowsSampler = true
      let other = OperationQueue(pool: pool)
      other.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(starter.failureCount == 3)
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-14: many failures are reported once")
  func reportInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(30)) {
        let kinds = EventLog<Diagnostic.Kind>()
        Diagnostic.handler = { kinds.note($0.kind) }
        let starter = FailingStarter()
        starter.mode = .fails
        let queue = OperationQueue(pool: starter.makePool())
        for _ in 0..<10 { queue.addOperation {} }
        precondition(starter.failureCount > 1 && kinds.events == [.threadNotStarted])
        starter.mode = .succeeds
        queue.addOperation {}
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }
}
