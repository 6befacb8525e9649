// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import COperationsSystem
import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Threads that cannot be started", .oneAtATime)
struct ThreadFailureTests {
  @Test("MX-14: after a thread could not be started, the queue continues at its next use")
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

  @Test("MX-14: the existing threads do the work of all queues")
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
      starter.mode = .failsTimes(3)
      let other = OperationQueue(pool: pool)
      let begun = Gate()
      other.addOperation { begun.open() }
      // The test waits at a gate and not with a call of the library, so only the pool's sampler
      // thread can try again to start a worker.
      begun.pass()
      #expect(starter.failureCount == 3)
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "MX-14: if no thread can be started, the thread that waits for an operation tries again",
    arguments: [false, true])
  func retriesOfWaitingThread(waitsForQueue: Bool) async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      starter.mode = .failsTimes(9)
      let queue = OperationQueue(pool: starter.makePool())
      let operation = BlockOperation {}
      queue.addOperation(operation)
      #expect(starter.failureCount == 2 && !operation.isFinished)
      if waitsForQueue {
        queue.waitUntilAllOperationsAreFinished()
      } else {
        operation.waitUntilFinished()
      }
      #expect(starter.failureCount == 9)
    }
  }

  @Test(
    "MX-14: if no thread can be started, a task that waits for an operation causes more attempts",
    .timeLimit(.minutes(1)), arguments: [false, true])
  func retriesOfWaitingTask(waitsBefore: Bool) async throws {
    let starter = FailingStarter()
    starter.mode = .failsTimes(9)
    let queue = OperationQueue(pool: starter.makePool())
    let operation = BlockOperation {}
    queue.isSuspended = waitsBefore
    queue.addOperation(operation)
    let waiting = Task { await operation.waitUntilFinished() }
    if waitsBefore {
      try await onOwnThread {
        while !operation.status.load(ordering: .acquiring).has(.hasWaiters) { sched_yield() }
        queue.isSuspended = false
      }
    }
    #expect(await waiting.value)
    #expect(starter.failureCount == 9)
  }

  @Test(
    "MX-14: if no thread can be started for a task of a queue's executor, the library tries again",
    .timeLimit(.minutes(1)))
  func retriesForTask() async {
    let starter = FailingStarter()
    starter.mode = .failsTimes(9)
    let queue = OperationQueue(pool: starter.makePool())
    let task = Task(executorPreference: queue.taskExecutor) { 1 }
    #expect(await task.value == 1)
    #expect(starter.failureCount == 9)
  }

  @Test("MX-14: a queue that could not get a thread is served by a thread that starts later")
  func strandedBesideStart() async throws {
    try await onOwnThread(within: .seconds(120)) {
      for _ in 0..<Effort.scaled(2_000) {
        let starter = FailingStarter()
        // The two threads that cannot be started are the sampler, which checks for blocked workers,
        // and the worker of the first queue.
        starter.mode = .failsTimes(2)
        let pool = starter.makePool()
        let finished = Gate()
        onThreads(2) { _ in OperationQueue(pool: pool).addOperation { finished.pass() } }
        // The test does not wait with a call of the library, because that call would also try to
        // start the thread again.
        finished.waitForArrivals(2)
        finished.open()
      }
    }
  }

  @Test("MX-14: without a sampler the waiting thread tries again although the only worker is busy")
  func retriesWithoutSampler() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      let pool = starter.makePool()
      let gate = Gate()
      let busy = OperationQueue(pool: pool)
      // The first start of a thread fails. This thread would be the sampler, which checks for
      // blocked workers, so the pool has no sampler.
      starter.mode = .failsTimes(1)
      busy.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      starter.mode = .failsTimes(5)
      let other = OperationQueue(pool: pool)
      other.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(starter.failureCount == 6)
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-14: without a sampler, adding to a queue whose request waits tries again")
  func addingRetriesWithoutSampler() async throws {
    try await onOwnThread(within: .seconds(60)) {
      let refusesSampler = Monitored(true)
      // The test can distinguish the thread of the sampler, which checks for blocked workers, from others:
      // only this thread has the default stack size.
      let configuration = WorkerPoolConfiguration(processorCount: 2, stackSize: 1 << 20)
      let pool = WorkerPool(configuration) { body, context, stackSize in
        if stackSize == 0, refusesSampler.value { return EAGAIN }
        return csystem_start_thread_with_stack(body, context, stackSize)
      }
      let queue = OperationQueue(pool: pool)
      let gate = Gate()
      for _ in 0..<2 { queue.addOperation { gate.pass() } }
      gate.waitForArrivals(2)
      let begun = Flag()
      queue.addOperation { begun.raise() }
      refusesSampler.change { $0 = false }
      // The test does not wait with a call of the library, because that call would also try to
      // start the thread again.
      let hasBegun = poll(for: .seconds(Patience.seconds)) {
        queue.addOperation {}
        return begun.isRaised
      }
      #expect(hasBegun)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-14: a thread that can be started serves the queues that got none before")
  func strandedQueues() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let starter = FailingStarter()
      let pool = starter.makePool()
      starter.mode = .fails
      let begun = Gate()
      let queues = (0..<5).map { _ in OperationQueue(pool: pool) }
      for queue in queues { queue.addOperation { begun.pass() } }
      starter.mode = .succeeds
      let last = OperationQueue(pool: pool)
      last.addOperation { begun.pass() }
      begun.waitForArrivals(6)
      begun.open()
      for queue in queues + [last] { queue.waitUntilAllOperationsAreFinished() }
    }
  }

  @Test("MX-12: if the system refuses the size of the stack, a worker gets the default size")
  func refusedStackSize() async throws {
    try await onOwnThread(within: .seconds(30)) {
      let configuration = WorkerPoolConfiguration(processorCount: 2, stackSize: 65_536)
      let pool = WorkerPool(configuration) { body, context, stackSize in
        stackSize > 0 ? EINVAL : csystem_start_thread_with_stack(body, context, stackSize)
      }
      OperationQueue(pool: pool).addOperations([BlockOperation {}], waitUntilFinished: true)
    }
  }

  @Test("MX-14: many failures are reported once")
  func reportInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(30)) {
        let kinds = EventLog<OperationDiagnostic.Kind>()
        OperationDiagnostic.handler = { kinds.note($0.kind) }
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
