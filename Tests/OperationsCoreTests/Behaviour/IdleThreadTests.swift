// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Each of these tests runs in a separate process, so that the thread pool has only the threads of
// the test's queues.
@Suite("The threads of idle queues")
struct IdleThreadTests {
  @Test(
    "Idle queues wake no thread, neither a worker nor the sampler")
  func idleQueuesWakeNoThreadInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let queues = queuesThatHaveWorked()
        // The threads that ran the last operations may not be asleep yet.
        let threads = settledThreads()
        let before = threads.map(\.switchCount)
        let ticksBefore = threads.map(\.tickCount)
        // The threads of the pool must not wake up during this sleep of two seconds.
        sleep(2)
        let after = threads.map(\.switchCount)
        let ticksAfter = threads.map(\.tickCount)
        precondition(!threads.isEmpty && queues.map(\.operationCount) == [0, 0, 0, 1])
        for (before, after) in zip(before, after) {
          // If the machine was stopped for some seconds, a thread may have woken once to end
          // itself.
          guard let before, let after else { continue }
          precondition(after <= before + 1, "\(threads) woke up from \(before) to \(after)")
        }
        for (before, after) in zip(ticksBefore, ticksAfter) {
          guard let before, let after else { continue }
          // A thread that spins would use about 200 ticks of processor time in two seconds.
          precondition(after <= before + 1, "\(threads) took \(after - before) ticks")
        }
      }
    }
  }

  @Test("Threads that were idle for some seconds end")
  func idleThreadsEndInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        let queues = queuesThatHaveWorked()
        precondition(!PoolThread.all.isEmpty)
        // The test checks repeatedly, because there is no event for the end of a thread.
        while !PoolThread.all.isEmpty { usleep(50_000) }
        queues[0].addOperations([BlockOperation {}], waitUntilFinished: true)
      }
    }
  }
}

/// Returns queues of default width and of other widths, in which operations have blocked their
/// threads. Therefore the sampler, the thread that checks for blocked workers, has run. The last
/// queue is suspended and has a ready operation.
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

/// Waits until all threads of the pool are asleep, and returns the threads.
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
