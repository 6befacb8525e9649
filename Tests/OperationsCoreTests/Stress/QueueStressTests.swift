// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("Everything at once, seeded", .oneAtATime)
struct QueueStressTests {
  @Test("CA-6, D-10: cancelling races start and finish: run at most once, finished, deallocated")
  func cancellingRaces() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let queue = OperationQueue()
      let ledger = Ledger()
      let rounds = Effort.scaled(5_000)
      onThreads(2) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        for _ in 0..<rounds {
          let operation = ledger.make(Int.random(in: 0..<3, using: &random))
          let spins = Int.random(in: 0..<200, using: &random)
          queue.addOperation(operation)
          for _ in 0..<spins { _ = operation.isExecuting }
          operation.cancel()
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      ledger.check(queue, added: 2 * rounds)
    }
  }

  @Test("MX-4, MX-7: width, suspension and priorities change while four producers add")
  func controlRacesAdding() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let queue = OperationQueue()
      let ledger = Ledger()
      let producers = 4
      let perProducer = Effort.scaled(4_000)
      let running = Atomic<Int>(producers)
      onThreads(producers + 1) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(thread))
        if thread == producers {
          while running.load(ordering: .acquiring) > 0 {
            queue.isSuspended = Bool.random(using: &random)
            queue.maxConcurrentOperationCount = Int.random(in: -1..<4, using: &random)
            for operation in queue.operations.prefix(8) {
              operation.queuePriority =
                Operation.QueuePriority.allCases[
                  Int.random(in: 0..<5, using: &random)]
            }
          }
          queue.isSuspended = false
          queue.maxConcurrentOperationCount = Int.random(in: 1..<4, using: &random)
          return
        }
        var added = 0
        while added < perProducer {
          let batch = (0..<Int.random(in: 1...5, using: &random)).map { _ in
            ledger.make(Int.random(in: 0..<3, using: &random))
          }
          if batch.count == 1 {
            queue.addOperation(batch[0])
          } else {
            queue.addOperations(batch, waitUntilFinished: false)
          }
          added += batch.count
        }
        ledger.count(added)
        running.wrappingSubtract(1, ordering: .releasing)
      }
      queue.waitUntilAllOperationsAreFinished()
      ledger.check(queue, added: ledger.addedCount)
    }
  }

  @Test("DE-9, DE-17, PR-5: dependencies and priorities change while operations are dispatched")
  func editsRaceDispatch() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      queues[1].maxConcurrentOperationCount = 3
      let ledger = Ledger()
      let rounds = Effort.scaled(1_000)
      for round in 0..<rounds {
        var random = SeededGenerator(seed: seed &+ UInt64(round))
        let operations = (0..<20).map { _ in
          ledger.make(Int.random(in: 0..<3, using: &random))
        }
        onThreads(3) { [random] thread in
          var random = random
          for _ in 0..<(thread * 7) { _ = random.next() }
          if thread == 0 {
            for operation in operations {
              queues[Int.random(in: 0..<2, using: &random)].addOperation(operation)
            }
            return
          }
          for _ in 0..<60 {
            // Later operations depend only on earlier ones, so there are no cycles.
            let later = Int.random(in: 1..<20, using: &random)
            let earlier = Int.random(in: 0..<later, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1: operations[later].addDependency(operations[earlier])
            case 2: operations[later].removeDependency(operations[earlier])
            case 3: operations[later].queuePriority = .veryHigh
            default:
              // An asynchronous operation that is cancelled before it is added has finished and
              // cannot be added.
              let isAsynchronous = operations[later].isAsynchronous
              if earlier == 0, !isAsynchronous { operations[later].cancel() }
            }
          }
        }
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      for queue in queues { #expect(queue.operationCount == 0) }
      ledger.check(nil, added: rounds * 20)
    }
  }

  @Test("Q-3: if two queues add the same operations, each operation gets exactly one queue")
  func twoQueuesClaim() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      let ledger = Ledger()
      let rounds = Effort.scaled(2_000)
      for _ in 0..<rounds {
        let operations = [ledger.make(0), ledger.make(1)]
        onThreads(2) { thread in
          let refusals = OperationMisuse.catching {
            if thread == 0 {
              queues[0].addOperations(operations, waitUntilFinished: false)
            } else {
              queues[1].addOperation(operations[1])
              operations[1].queuePriority = .high
            }
          }
          if refusals.contains(where: { $0.kind != .cannotEnqueue }) {
            Issue.record("\(refusals)")
          }
        }
        // If the queue refused the batch of operations, the first operation of the batch can still
        // be added.
        if !queues[0].operations.contains(operations[0]), operations[0].state == .ready {
          queues[0].addOperation(operations[0])
        }
        for operation in operations { operation.waitUntilFinished() }
      }
      ledger.check(nil, added: 2 * rounds)
    }
  }
}

/// Creates operations of three kinds, and counts their executions and the operations that exist.
private final class Ledger: Sendable {
  private let aliveCount = Monitored(0)
  private let repeated = Atomic<Int>(0)
  private let added = Atomic<Int>(0)

  var addedCount: Int { added.load(ordering: .relaxed) }

  func count(_ count: Int) { added.wrappingAdd(count, ordering: .relaxed) }

  func make(_ kind: Int) -> Operation {
    let runCount = RunCount()
    let work: @Sendable () -> Void = { [self] in
      if !runCount.isFirst() { repeated.wrappingAdd(1, ordering: .relaxed) }
    }
    aliveCount.change { $0 += 1 }
    let probe = AtDeinit { [aliveCount] in aliveCount.change { $0 -= 1 } }
    switch kind {
    case 0:
      return BlockOperation {
        work()
        probe.touch()
      }
    case 1:
      return PlainSubclass {
        work()
        probe.touch()
      }
    default:
      return LockedAsynchronousOperation {
        work()
        probe.touch()
      }
    }
  }

  /// Checks that no operation is lost or has run twice, and that all were released.
  func check(_ queue: OperationQueue?, added: Int) {
    #expect(repeated.load(ordering: .relaxed) == 0)
    aliveCount.wait(for: "all operations to be released") { $0 == 0 }
    guard let queue else { return }
    let counts = queue.takeChanges(for: CollectorID(), limit: 0).counts
    #expect(counts.total == added && counts.finished + counts.cancelled == added)
    #expect(counts.waiting + counts.ready + counts.executing + counts.cancelling == 0)
  }
}

private final class RunCount: Sendable {
  private let count = Atomic<Int>(0)
  func isFirst() -> Bool { count.wrappingAdd(1, ordering: .relaxed).newValue == 1 }
}
