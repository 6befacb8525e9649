// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Races between workers and threads that add operations", .oneAtATime)
struct WorkerRaceTests {
  @Test(
    "MX-6: two operations that need each other both get a worker", arguments: [2, 16])
  func operationsThatMeetBothRun(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      for _ in 0..<Effort.scaled(5_000) {
        let first = Gate()
        let second = Gate()
        queue.addOperation {
          first.open()
          second.pass()
        }
        queue.addOperation {
          second.open()
          first.pass()
        }
        guard first.waitUntilOpen(), second.waitUntilOpen() else { return }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test(
    "MX-1: asynchronous operations in a narrow queue follow one another without a stall",
    arguments: [1, 2])
  func asynchronousOperationsFollowOneAnother(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = width
      let most = Atomic<Int>(0)
      let now = Atomic<Int>(0)
      for _ in 0..<Effort.scaled(200) {
        for _ in 0..<50 {
          queue.addOperation(
            LockedAsynchronousOperation {
              let count = now.wrappingAdd(1, ordering: .relaxed).newValue
              _ = most.max(count, ordering: .relaxed)
              now.wrappingSubtract(1, ordering: .relaxed)
            })
        }
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(most.load(ordering: .relaxed) <= width)
    }
  }

  @Test("F-1, WA-4, H-1: a locking subclass is added and awaited for 20,000 rounds")
  func addAndWaitForALockingSubclass() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      for _ in 0..<Effort.scaled(20_000) {
        queue.addOperation(LockedAsynchronousOperation())
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(queue.operationCount == 0)
    }
  }

  @Test("MX-7: resuming just as a worker gives up loses no operation")
  func resumingWhileAWorkerGivesUp() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let runs = Atomic<Int>(0)
      let rounds = Effort.scaled(5_000)
      for _ in 0..<rounds {
        queue.addOperation { runs.wrappingAdd(1, ordering: .relaxed) }
        queue.isSuspended = true
        queue.addOperation { runs.wrappingAdd(1, ordering: .relaxed) }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(runs.load(ordering: .relaxed) == 2 * rounds)
    }
  }
}
