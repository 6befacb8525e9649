// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Many queues on shared dispatch queues, seeded", .oneAtATime)
struct UnderlyingQueueStressTests {
  @Test("MX-9, Q-7: queues that share a serial one run each operation once and never two at once")
  func sharedSerial() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let ledger = Ledger()
      run(DispatchQueue(label: "shared serial"), ledger, seed: seed)
      #expect(ledger.mostAtOnce == 1)
    }
  }

  @Test("MX-9, Q-7: queues that share a concurrent one run each operation once")
  func sharedConcurrent() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let ledger = Ledger()
      run(DispatchQueue(label: "shared concurrent", attributes: .concurrent), ledger, seed: seed)
    }
  }

  @Test("MX-9: on busy processors, a serial one runs operations and blocks as they were added")
  func orderOnBusyProcessors() async throws {
    try await onOwnThread {
      let isDone = Flag()
      let rounds = Effort.scaled(2_000)
      onThreads(5) { thread in
        // The other threads interrupt the threads that submit blocks.
        guard thread == 0 else { while !isDone.isRaised {}; return }
        defer { isDone.raise() }
        let place = DispatchQueue(label: "serial")
        let queue = OperationQueue()
        queue.underlyingQueue = place
        for _ in 0..<rounds where !runsInOrder(queue, place) {
          Issue.record("an operation and a block have changed places")
          return
        }
      }
    }
  }

  /// Adds operations to the operation queue and blocks to its dispatch queue in turn. Returns
  /// whether they ran in this order.
  private func runsInOrder(_ queue: OperationQueue, _ place: DispatchQueue) -> Bool {
    let log = EventLog<Int>()
    for round in 0..<100 {
      queue.addOperation { log.note(2 * round) }
      place.async { log.note(2 * round + 1) }
    }
    place.sync {}
    return log.events == Array(0..<200)
  }

  @Test("MX-9: setting it just as another thread adds strands no operation")
  func settingRacesAdding() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let places = [MarkedQueue().queue, MarkedQueue().queue, nil]
      let rounds = Effort.scaled(20_000)
      let isDone = Flag()
      onThreads(2) { thread in
        if thread == 0 {
          for _ in 0..<rounds {
            let operation = BlockOperation {}
            queue.addOperation(operation)
            operation.waitUntilFinished()
          }
          isDone.raise()
        } else {
          var index = 0
          while !isDone.isRaised {
            index = (index + 1) % places.count
            // The queue refuses the operation if it is already in the queue.
            _ = OperationMisuse.catching { queue.underlyingQueue = places[index] }
          }
        }
      }
      #expect(queue.operationCount == 0)
    }
  }

  /// Runs several threads. Each thread adds operations to its own operation queues, cancels
  /// operations, changes priorities, widths and suspension, and releases the queues. All operation
  /// queues share one dispatch queue.
  private func run(_ shared: DispatchQueue, _ ledger: Ledger, seed: UInt64) {
    let rounds = Effort.scaled(300)
    onThreads(3) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(thread))
      for _ in 0..<rounds {
        let queue = ProbedQueue(ledger)
        queue.underlyingQueue = shared
        use(queue, ledger, &random)
        queue.maxConcurrentOperationCount = Int.random(in: 1..<4, using: &random)
        queue.isSuspended = false
        guard Bool.random(using: &random) else { continue }
        queue.waitUntilAllOperationsAreFinished()
        ledger.checkCounts(of: queue)
      }
    }
    ledger.waitUntilReleased()
    #expect(ledger.repeatedCount == 0)
    #expect(ledger.runCount + ledger.cancelledCount >= ledger.addedCount)
  }

  private func use(_ queue: ProbedQueue, _ ledger: Ledger, _ random: inout SeededGenerator) {
    for _ in 0..<40 {
      let operation = ledger.make(Int.random(in: 0..<3, using: &random), in: queue)
      queue.addOperation(operation)
      switch Int.random(in: 0..<12, using: &random) {
      case 0: queue.isSuspended.toggle()
      case 1: queue.maxConcurrentOperationCount = Int.random(in: -1..<4, using: &random)
      case 2:
        ledger.noteCancelled()
        operation.cancel()
      case 3: operation.queuePriority = .veryHigh
      case 4: queue.underlyingQueue?.async {}
      default: continue
      }
    }
  }
}

/// Counts the executions of each operation, and checks that all were released.
private final class Ledger: Sendable {
  private let aliveCount = Monitored(0)
  private let added = Atomic<Int>(0)
  private let ran = Atomic<Int>(0)
  private let repeated = Atomic<Int>(0)
  private let cancelled = Atomic<Int>(0)
  private let atOnce = Atomic<Int>(0)
  private let most = Atomic<Int>(0)

  var addedCount: Int { added.load(ordering: .relaxed) }
  var runCount: Int { ran.load(ordering: .relaxed) }
  var repeatedCount: Int { repeated.load(ordering: .relaxed) }
  var cancelledCount: Int { cancelled.load(ordering: .relaxed) }
  /// The maximum number of operations that have executed on the dispatch queue at the same time.
  var mostAtOnce: Int { most.load(ordering: .relaxed) }

  func noteCancelled() { cancelled.wrappingAdd(1, ordering: .relaxed) }

  func wasMade() { aliveCount.change { $0 += 1 } }
  func wasReleased() { aliveCount.change { $0 -= 1 } }

  func waitUntilReleased() {
    aliveCount.wait(for: "queues and operations to be released") { $0 == 0 }
  }

  func make(_ kind: Int, in queue: ProbedQueue) -> Operation {
    added.wrappingAdd(1, ordering: .relaxed)
    queue.count()
    let isFirst = Flag()
    let run: @Sendable () -> Void = { [self] in
      if isFirst.isRaised { repeated.wrappingAdd(1, ordering: .relaxed) }
      isFirst.raise()
      ran.wrappingAdd(1, ordering: .relaxed)
    }
    let inPlace: @Sendable () -> Void = { [self] in
      _ = most.max(atOnce.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
      run()
      atOnce.wrappingSubtract(1, ordering: .relaxed)
    }
    let probe = AliveProbe(self)
    switch kind {
    case 0:
      return BlockOperation {
        inPlace()
        probe.touch()
      }
    case 1:
      return PlainSubclass {
        inPlace()
        probe.touch()
      }
    default:
      // An operation of the class `LockedAsynchronousOperation` does its work on another thread.
      return LockedAsynchronousOperation {
        run()
        probe.touch()
      }
    }
  }

  func checkCounts(of queue: ProbedQueue) {
    let counts = queue.takeChanges(for: CollectorID(), limit: 0).counts
    #expect(counts.total == queue.addedCount)
    #expect(counts.finished + counts.cancelled == queue.addedCount)
    #expect(counts.waiting + counts.ready + counts.executing + counts.cancelling == 0)
  }
}

private final class AliveProbe: Sendable {
  private let ledger: Ledger

  init(_ ledger: Ledger) {
    self.ledger = ledger
    ledger.wasMade()
  }

  deinit { ledger.wasReleased() }
  func touch() {}
}

/// A queue that reports its deallocation, so that the test can count it.
private final class ProbedQueue: OperationQueue, @unchecked Sendable {
  private let probe: AliveProbe
  private let added = Atomic<Int>(0)

  init(_ ledger: Ledger) {
    probe = AliveProbe(ledger)
    super.init()
  }

  var addedCount: Int { added.load(ordering: .relaxed) }
  func count() { added.wrappingAdd(1, ordering: .relaxed) }
}
