// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Delayed operations", .timeLimit(.minutes(5)))
struct DelayTests {
  private func serialQueue() -> OperationQueue {
    OperationQueue(name: "delays", maxConcurrentOperationCount: 1)
  }

  @Test("It waits until its delay has ended, measured from its addition on the given clock")
  func waits() async throws {
    try await onOwnThread {
      let (queue, clock, log) = (serialQueue(), ManualClock(), EventLog<String>())
      clock.advance(by: .seconds(100))
      let operation = queue.addOperation(delay: .seconds(5), clock: clock) { log.note("ran") }
      queue.addOperations([BlockOperation { log.note("other") }], waitUntilFinished: true)
      clock.waitForSleeps(1)
      clock.advance(by: .milliseconds(4_999))
      #expect(!operation.isReady && operation.state == .waiting && clock.sleeperCount == 1)
      #expect(queue.snapshot().counts.waiting == 1 && log.events == ["other"])
      clock.advance(by: .milliseconds(1))
      operation.waitUntilFinished()
      #expect(log.events == ["other", "ran"] && clock.sleeps == [.seconds(5)])
    }
  }

  @Test("Without a clock, the delay is real time, also for an asynchronous operation")
  func realTime() async throws {
    let queue = serialQueue()
    let start = ContinuousClock.now
    queue.addOperation(delay: .milliseconds(30)) {}
    let operation = queue.addAsyncOperation(name: "late", delay: .milliseconds(50)) { 42 }
    #expect(operation.name == "late")
    #expect(try await operation.value == 42)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    await queue.waitUntilAllOperationsAreFinished()
  }

  @Test("A delay of zero or less is none", arguments: [Duration.zero, .seconds(-3)])
  func noDelay(delay: Duration) async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      queue.isSuspended = true
      let operation = queue.addOperation(delay: delay, clock: clock) {}
      #expect(operation.isReady && clock.sleeps.isEmpty)
      queue.isSuspended = false
      operation.waitUntilFinished()
    }
  }

  @Test("More than 100 years count as 100 years")
  func longestDelay() async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      let operation = queue.addOperation(delay: .seconds(Int64.max), clock: clock) {}
      clock.waitForSleeps(1)
      #expect(clock.sleeps == [.seconds(100 * 365 * 86_400)])
      operation.cancel()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Cancelling it finishes it at once, and ends the sleep on the clock")
  func cancellation() async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      let operation = queue.addOperation(delay: .seconds(5), clock: clock) {
        Issue.record("A cancelled operation ran")
      }
      clock.waitForSleeps(1)
      operation.cancel()
      operation.waitUntilFinished()
      #expect(operation.isCancelled && Alarms.timeLeft(of: operation) == nil)
      while clock.sleeperCount > 0 { sched_yield() }
    }
  }

  @Test("The delay goes on while the queue is suspended")
  func suspension() async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      queue.isSuspended = true
      let operation = queue.addOperation(delay: .seconds(5), clock: clock) {}
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(5))
      while !operation.isReady { sched_yield() }
      #expect(operation.state == .ready)
      queue.isSuspended = false
      operation.waitUntilFinished()
    }
  }

  @Test("It waits for its dependencies too, whichever end first", arguments: [true, false])
  func dependencies(delayIsFirst: Bool) async throws {
    try await onOwnThread {
      let (queue, clock, gate) = (OperationQueue(), ManualClock(), Gate())
      let first = BlockOperation { gate.pass() }
      let second = BlockOperation {}
      second.addDependency(first)
      queue.addOperation(first)
      queue.addOperation(second, delay: .seconds(5), clock: clock)
      gate.waitForArrivals(1)
      clock.waitForSleeps(1)
      if delayIsFirst {
        clock.advance(by: .seconds(5))
        while second.delayLeft != nil { sched_yield() }
        #expect(!second.isReady)
        gate.open()
      } else {
        gate.open()
        first.waitUntilFinished()
        #expect(!second.isReady && second.reasonsNotRunning() == [.delayed(timeLeft: .seconds(5))])
        clock.advance(by: .seconds(5))
      }
      second.waitUntilFinished()
    }
  }

  @Test("Observers see isReady change before and after the delay")
  func observers() async throws {
    try await onOwnThread {
      let (queue, clock, log) = (serialQueue(), ManualClock(), EventLog<Bool>())
      let operation = BlockOperation {}
      let observation = operation.observe(\.isReady, options: [.initial, .new]) { _, change in
        if let value = change.newValue { log.note(value) }
      }
      queue.addOperation(operation, delay: .seconds(5), clock: clock)
      #expect(log.events == [true, false])
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(5))
      operation.waitUntilFinished()
      #expect(log.events == [true, false, true])
      observation.invalidate()
    }
  }

  @Test("A barrier that is added later waits for it, and operations behind the barrier too")
  func barrier() async throws {
    try await onOwnThread {
      let (queue, clock, log) = (OperationQueue(), ManualClock(), EventLog<String>())
      queue.addOperation(delay: .seconds(5), clock: clock) { log.note("delayed") }
      queue.addBarrierBlock { log.note("barrier") }
      queue.addOperation { log.note("behind") }
      clock.waitForSleeps(1)
      #expect(log.events.isEmpty)
      clock.advance(by: .seconds(5))
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["delayed", "barrier", "behind"])
    }
  }

  @Test("Delays that end together start their operations in the order of addition")
  func order() async throws {
    try await onOwnThread {
      let (queue, clock, log) = (serialQueue(), ManualClock(), EventLog<Int>())
      for number in 0..<100 {
        queue.addOperation(delay: .seconds(3), clock: clock) { log.note(number) }
      }
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(3))
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == Array(0..<100))
      #expect(clock.sleeps.count == 1, "One task sleeps for all operations")
    }
  }

  @Test("The reason why it does not run has the time left")
  func reason() async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      let operation = queue.addOperation(delay: .milliseconds(2_550), clock: clock) {}
      clock.waitForSleeps(1)
      clock.advance(by: .milliseconds(250))
      let reasons = operation.reasonsNotRunning()
      #expect(reasons == [.delayed(timeLeft: .milliseconds(2_300))])
      #expect(reasons.map(\.description) == ["it waits for its delay: 2.3 s are left"])
      let dependent = BlockOperation {}
      dependent.addDependency(operation)
      queue.addOperation(dependent)
      guard case .unmetDependencies(_, _, let chain)? = dependent.reasonsNotRunning().first else {
        Issue.record("No chain")
        return
      }
      #expect(chain.end == .delayed(timeLeft: .milliseconds(2_300)))
      #expect("\(chain)".hasSuffix("which waits for its delay (2.3 s left)"))
      #expect(queue.deadlocks().isEmpty, "A delay is not a deadlock")
      clock.advance(by: .seconds(3))
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.reasonsNotRunning().isEmpty)
    }
  }

  @Test(
    "Durations in sentences have two units at most",
    arguments: [
      (Duration.zero, "0.0 s"), (.milliseconds(2_349), "2.3 s"), (.milliseconds(59_960), "60.0 s"),
      (.seconds(60), "1 min 0 s"), (.seconds(3_599), "59 min 59 s"), (.seconds(7_260), "2 h 1 min"),
      (.seconds(400_000), "4 days 15 h"),
    ])
  func words(duration: Duration, text: String) { #expect(duration.inWords == text) }

  @Test("A queue that is released with delayed operations stays alive until they have finished")
  func releasedQueue() async throws {
    try await onOwnThread {
      let (clock, log) = (ManualClock(), EventLog<String>())
      do {
        let queue = QueueWithDeinit { log.note("queue") }
        let probe = DeinitProbe("block", in: log)
        queue.addOperation(delay: .seconds(5), clock: clock) {
          probe.touch()
          log.note("ran")
        }
      }
      clock.waitForSleeps(1)
      #expect(log.events.isEmpty)
      clock.advance(by: .seconds(5))
      log.wait(forCount: 3)
      #expect(log.events.first == "ran" && Set(log.events) == ["ran", "block", "queue"])
    }
  }

  @Test("DE-14: the memory of an operation that finishes before the end of its delay is freed")
  func memory() async throws {
    try await onOwnThread {
      let (queue, clock) = (OperationQueue(), ManualClock())
      let usual = _getUnownedRetainCount(Operation())
      let operations = (0..<10).map { _ in queue.addOperation(delay: .seconds(9), clock: clock) {} }
      for operation in operations[..<5] { operation.cancel() }
      clock.waitForSleeps(1)
      clock.advance(by: .seconds(9))
      queue.waitUntilAllOperationsAreFinished()
      #expect(operations.map { _getUnownedRetainCount($0) } == Array(repeating: usual, count: 10))
    }
  }

  @Test("A cancelled queue releases its delayed operations, and the clock")
  func cancelledQueue() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      weak var released: ManualClock?
      do {
        let clock = ManualClock()
        released = clock
        let queue = OperationQueue()
        for number in 0..<100 {
          let probe = DeinitProbe("\(number)", in: log)
          queue.addOperation(delay: .seconds(3_600 + number), clock: clock) { probe.touch() }
        }
        clock.waitForSleeps(1)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
      }
      log.wait(forCount: 100)
      while released != nil { sched_yield() }
    }
  }

  @Test("An operation that its queue refuses does not wait for the delay")
  func refusal() async throws {
    try await onOwnThread {
      let (queue, clock) = (serialQueue(), ManualClock())
      let operation = queue.addOperation(delay: .seconds(5), clock: clock) {}
      #expect(throws: OperationMisuse.self) {
        try MisuseScope.run(throwing: [.cannotEnqueue]) {
          queue.addOperation(operation, delay: .seconds(9), clock: clock)
        }
      }
      #expect(Alarms.timeLeft(of: operation) == .seconds(5))
      clock.advance(by: .seconds(5))
      operation.waitUntilFinished()
    }
  }

  @Test("An operation that a subclass of the queue drops is ready after the call")
  func droppedOperation() {
    final class Dropping: OperationQueue, @unchecked Sendable {
      override func addOperation(_ operation: Operation) {}
    }
    let operation = BlockOperation {}
    Dropping().addOperation(operation, delay: .seconds(5), clock: ManualClock())
    #expect(operation.isReady && Alarms.timeLeft(of: operation) == nil)
    operation.start()
    #expect(operation.isFinished)
  }
}
