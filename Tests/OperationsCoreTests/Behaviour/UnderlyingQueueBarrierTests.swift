// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Barriers of a queue that runs on a dispatch queue")
struct UnderlyingQueueBarrierTests {
  @Test("BA-2: a barrier runs on it if the queue is empty, busy or was suspended")
  func place() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      let log = EventLog<String>()
      let note: @Sendable (String) -> Void = { what in
        log.note(place.isRunningHere && OperationQueue.current === queue ? what : "strayed")
      }
      queue.addBarrierBlock { note("empty") }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["empty"])

      queue.isSuspended = true
      queue.addBarrierBlock { note("suspended") }
      place.queue.sync {}
      #expect(log.events == ["empty"])
      let late = BlockOperation { note("late") }
      late.queuePriority = .veryHigh
      queue.addOperation(late)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["empty", "suspended", "late"])
    }
  }

  @Test("BA-1, BA-2: on a concurrent queue, a barrier separates earlier and later operations")
  func order() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      let running = Atomic<Int>(0)
      let finished = Atomic<Int>(0)
      let disorder = Atomic<Int>(0)
      let rounds = Effort.scaled(100)
      let perRound = 20
      for round in 0..<rounds {
        for _ in 0..<perRound {
          queue.addOperation {
            running.wrappingAdd(1, ordering: .relaxed)
            finished.wrappingAdd(1, ordering: .relaxed)
            running.wrappingSubtract(1, ordering: .relaxed)
          }
        }
        queue.addBarrierBlock {
          let isAlone = running.load(ordering: .relaxed) == 0
          let count = finished.load(ordering: .relaxed)
          if !isAlone || count != (round + 1) * perRound {
            disorder.wrappingAdd(1, ordering: .relaxed)
          }
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(disorder.load(ordering: .relaxed) == 0)
      #expect(finished.load(ordering: .relaxed) == rounds * perRound)
    }
  }

  @Test("MX-9, BA-2: the underlying queue cannot be set while a barrier is in the queue")
  func busy() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addBarrierBlock {}
      let mistakes = OperationMisuse.catching {
        queue.underlyingQueue = DispatchQueue(label: "new")
      }
      #expect(mistakes.map(\.kind) == [.setsUnderlyingQueueWhileBusy])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}
