// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Counting that begins while a queue works")
struct FinishCountingStressTests {
  @Test(
    "PG-1: operations that are in the queue when counting begins, or are added later, count once")
  func beginsAmidst() async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(2_000) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
        let counted = Monitored(0)
        for number in 0..<16 {
          queue.addOperation(number.isMultiple(of: 4) ? PlainSubclass() : BlockOperation {})
        }
        for _ in 0..<(round % 61) { _ = queue.isSuspended }
        let before = queue.snapshot().counts
        queue.countFinishes { count in counted.change { $0 += count } }
        let after = queue.snapshot().counts
        let late = (0..<4).map { _ in LockedAsynchronousOperation() }
        queue.addOperations(late, waitUntilFinished: true)
        #expect(counted.value >= 4, "the awaited operations are counted")
        queue.waitUntilAllOperationsAreFinished()
        // An operation that was leaving the queue when the counting began is counted somewhat
        // later, on the thread on which it left.
        let least = after.waiting + after.ready + after.executing + late.count
        let most = before.waiting + before.ready + before.executing + late.count
        guard counted.wait(for: "\(least) to be counted", until: { $0 >= least }) else { return }
        #expect(counted.value <= most)
      }
    }
  }

  @Test("PG-1: operations that finish by themselves while they are being added count once")
  func finishWhileAdded() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        let queue = OperationQueue()
        let counted = Monitored(0)
        queue.countFinishes { count in counted.change { $0 += count } }
        let operations = (0..<8).map { _ in LockedAsynchronousOperation() }
        onThreads(2) { thread in
          if thread == 0 {
            for operation in operations { operation.cancel() }
          } else {
            for operation in operations { _ = try? queue.tryAddOperation(operation) }
          }
        }
        queue.waitUntilAllOperationsAreFinished()
        let left = queue.snapshot().counts
        counted.wait(for: "all to be counted") { $0 >= left.finished + left.cancelled }
        #expect(counted.value == left.finished + left.cancelled)
      }
    }
  }
}
