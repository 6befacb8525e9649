// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Glibc
import OperationsCore
import TestSupport
import Testing

// In processes of their own, where the pool's threads are those of these queues alone.
@Suite("The threads of queues that have nothing to do")
struct IdleThreadTests {
  @Test(
    "Queues that wait for work wake no thread, neither a worker nor the sampler, and take no time")
  func idleQueuesWakeNobodyInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let queues = queuesThatHaveWorked()
        // Of those that go to sleep the last may still be on its way.
        let threads = settledThreads()
        let before = threads.map(\.switchCount)
        let ticksBefore = threads.map(\.tickCount)
        // This is not waiting for anything: it is the time in which nothing may happen.
        sleep(2)
        let after = threads.map(\.switchCount)
        let ticksAfter = threads.map(\.tickCount)
        precondition(!threads.isEmpty && queues.map(\.operationCount) == [0, 0, 0, 1])
        for (before, after) in zip(before, after) {
          // On a machine that stood still for seconds it may have ended, for which it wakes once.
          guard let before, let after else { continue }
          precondition(after <= before + 1, "\(threads) woke up from \(before) to \(after)")
        }
        for (before, after) in zip(ticksBefore, ticksAfter) {
          guard let before, let after else { continue }
          // One that spins would take some two hundred in the two seconds.
          precondition(after <= before + 1, "\(threads) took \(after - before) ticks")
        }
      }
    }
  }

  @Test("Threads that have had nothing to do for some seconds end")
  func idleThreadsEndInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let queues = queuesThatHaveWorked()
        precondition(!PoolThread.all.isEmpty)
        // The end of a thread is nothing that could be waited for.
        while !PoolThread.all.isEmpty { usleep(50_000) }
        queues[0].addOperations([BlockOperation {}], waitUntilFinished: true)
      }
    }
  }
}

/// Of default width and of a width of their own; all have run something that blocked, so that the
/// sampler has been there. The last one is suspended, with an operation that is ready.
private func queuesThatHaveWorked() -> [OperationQueue] {
  let queues = [-1, -1, 1, 8].map { width in
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    return queue
  }
  let gate = Gate()
  for queue in queues {
    for _ in 0..<8 { queue.addOperation { gate.pass() } }
  }
  precondition(gate.waitForArrivals(8 + 8 + 1 + 8))
  gate.open()
  for queue in queues { queue.waitUntilAllOperationsAreFinished() }
  queues[3].isSuspended = true
  queues[3].addOperation {}
  return queues
}

/// The threads of the pool, when they are all asleep.
private func settledThreads() -> [PoolThread] {
  var threads: [PoolThread] = []
  var counts: [Int?] = []
  while true {
    if threads == PoolThread.all && counts == threads.map(\.switchCount) { return threads }
    threads = PoolThread.all
    counts = threads.map(\.switchCount)
    usleep(20_000)
  }
}
