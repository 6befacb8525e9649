// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("The lock of an operation", .timeLimit(.minutes(5)))
struct BriefLockTests {
  // Unchecked `Sendable` conformance, because `value` is accessed only while the lock is held.
  private final class Counter: @unchecked Sendable {
    let lock = BriefLock()
    var value = 0
    var isFree: Bool { lock.isFree }
  }

  @Test("One thread at a time holds it")
  func exclusion() async throws {
    try await onOwnThread {
      let counter = Counter()
      let rounds = Effort.scaled(200_000)
      onThreads(4) { _ in
        for _ in 0..<rounds {
          counter.lock.lock()
          counter.value += 1
          counter.lock.unlock()
        }
      }
      #expect(counter.value == 4 * rounds)
      #expect(counter.isFree)
    }
  }

  @Test("A thread waits until another thread has released it, and then sees that thread's changes")
  func waiting() async throws {
    try await onOwnThread {
      let counter = Counter()
      let isHeld = Gate()
      let waiter = Atomic<Int32>(0)
      onThreads(2) { thread in
        if thread == 0 {
          counter.lock.lock()
          isHeld.open()
          // The other thread sleeps after some attempts.
          var isAsleep = false
          while !isAsleep {
            let id = waiter.load(ordering: .relaxed)
            isAsleep = id != 0 && ThreadStatus.isBlocked(threadID: id) == true
          }
          counter.value = 1
          counter.lock.unlock()
        } else {
          _ = isHeld.waitUntilOpen()
          waiter.store(csystem_thread_id(), ordering: .relaxed)
          counter.lock.lock()
          #expect(counter.value == 1)
          counter.lock.unlock()
        }
      }
    }
  }
}
