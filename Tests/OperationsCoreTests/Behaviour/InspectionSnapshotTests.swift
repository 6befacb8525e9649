// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Snapshots of queues")
struct InspectionSnapshotTests {
  @Test("A snapshot has the properties of the queue and of each operation, in order of addition")
  func contents() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.name = "shown"
      queue.maxConcurrentOperationCount = 3
      queue.isSuspended = true
      let first = BlockOperation {}
      first.name = "first"
      let finished = Operation()
      finished.start()
      let second = PlainSubclass()
      second.addDependency(finished)
      second.addDependency(first)
      second.qualityOfService = .utility
      let third = Operation()
      third.queuePriority = .high
      queue.addOperations([first, second, third], waitUntilFinished: false)

      let snapshot = queue.snapshot()
      #expect(snapshot.id == queue.id && snapshot.name == "shown" && snapshot.isSuspended)
      #expect(snapshot.maxConcurrentOperationCount == 3)
      #expect(snapshot.counts.waiting == 1 && snapshot.counts.ready == 2)
      #expect(snapshot.operations.map(\.id) == [first, second, third].map(\.id))
      #expect(snapshot.operations.map(\.name) == ["first", nil, nil])
      #expect(snapshot.operations.map(\.state) == [.ready, .waiting, .ready])
      #expect(snapshot.operations.map(\.readyPosition) == [1, nil, 0])
      #expect(snapshot.operations.map(\.queuePriority) == [.normal, .normal, .high])
      #expect(snapshot.operations.map(\.qualityOfService) == [.default, .utility, .default])
      #expect(snapshot.operations[1].type == PlainSubclass.self)
      #expect(snapshot.operations[1].dependencies == [finished.id, first.id])
      #expect(snapshot.operations[1].unmetDependencies == [first.id])
      #expect(snapshot.operations.allSatisfy { !$0.isCancelled && !$0.isBarrier })

      second.cancel()
      let cancelled = queue.snapshot()
      #expect(cancelled.counts.cancelling == 1 && cancelled.operations[1].isCancelled)
      #expect(cancelled.operations.map(\.readyPosition) == [2, 0, 1], "it only has to be retired")

      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      let last = queue.snapshot()
      #expect(last.operations.isEmpty && last.counts.total == 3)
      #expect(last.counts.finished == 2 && last.counts.cancelled == 1)
      queue.name = nil
      #expect(queue.snapshot().name == queue.name && last.name == "shown")
    }
  }

  @Test("Barriers are listed in the order of addition, with their states, but not counted")
  func barriers() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      let gates = [Gate(), Gate()]
      queue.addOperation { gates[0].pass() }
      queue.addBarrierBlock { gates[1].pass() }
      queue.addOperation {}
      queue.addBarrierBlock {}
      queue.addBarrierBlock {}
      gates[0].waitForArrivals(1)
      let before = queue.snapshot()
      #expect(before.operations.map(\.isBarrier) == [false, true, false, true, true])
      #expect(before.operations.map(\.barriersAhead) == [0, 0, 1, 0, 0])
      #expect(
        before.operations.map(\.state) == [.executing, .waiting, .ready, .waiting, .waiting])
      #expect(before.operations.map(\.readyPosition) == [nil, nil, 0, nil, nil])
      #expect(before.counts.total == 2 && before.counts.ready == 1)
      gates[0].open()
      gates[1].waitForArrivals(1)
      let during = queue.snapshot()
      #expect(during.operations.map(\.isBarrier) == [true, false, true, true])
      #expect(during.operations.map(\.state) == [.executing, .ready, .waiting, .waiting])
      #expect(during.counts.executing == 0)
      queue.isSuspended = true
      queue.addBarrierBlock {}
      gates[1].open()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()

      queue.isSuspended = true
      queue.addBarrierBlock {}
      queue.addOperation {}
      let due = queue.snapshot()
      #expect(due.operations.map(\.state) == [.ready, .ready])
      #expect(due.operations.map(\.readyPosition) == [0, 1])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Times are reported while a collector records, and are otherwise unknown")
  func times() async throws {
    try await onOwnThread {
      let queue = OperationQueue(unlistedNamed: "timed")
      queue.maxConcurrentOperationCount = 1
      let collector = CollectorID()
      let gate = Gate()
      queue.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      MonitorLevel.raise()
      defer { MonitorLevel.lower() }
      queue.core.keepRecords(for: collector, replaces: true) {}
      queue.addOperation {}
      let operations = queue.snapshot().operations
      #expect(operations[0].added == nil && operations[0].started == nil)
      #expect(operations[1].added != nil && operations[1].started == nil)
      let (added, ready) = (operations[1].added, operations[1].becameReady)
      #expect(added.flatMap { added in ready.map { added <= $0 } } == true)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      queue.core.dropRecords(of: collector)
    }
  }

  @Test("The counts of each snapshot add up, also while operations run")
  func partsAddUp() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 3
      let isDone = Flag()
      onThreads(3) { thread in
        if thread == 0 {
          var lastTotal = 0
          while !isDone.isRaised { lastTotal = check(queue.snapshot(), after: lastTotal) }
        } else {
          disturb(queue, seed: seed &+ UInt64(thread))
          if thread == 1 { isDone.raise() }
        }
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      _ = check(queue.snapshot(), after: 0)
    }
  }

  /// Checks that a snapshot's counts match its operations, and that its total is not less than the
  /// last total.
  ///
  /// - Returns: The snapshot's total.
  private func check(_ snapshot: QueueSnapshot, after lastTotal: Int) -> Int {
    let counts = snapshot.counts
    let listed = snapshot.operations.filter { !$0.isBarrier }
    func count(_ state: OperationState) -> Int { listed.count { $0.state == state } }
    #expect(count(.waiting) == counts.waiting)
    #expect(count(.ready) == counts.ready)
    #expect(count(.executing) == counts.executing && counts.executing <= 3)
    #expect(count(.finished) == 0)
    #expect(listed.count { $0.isCancelled } == counts.cancelling)
    #expect(listed.count + counts.finished + counts.cancelled == counts.total)
    #expect(counts.total >= lastTotal)
    #expect(Set(snapshot.operations.map(\.id)).count == snapshot.operations.count)
    let positions = snapshot.operations.compactMap(\.readyPosition).sorted()
    #expect(positions == Array(positions.indices))
    for operation in snapshot.operations {
      #expect((operation.readyPosition != nil) == (operation.state == .ready))
    }
    let running = snapshot.operations.filter { $0.isBarrier && $0.state == .executing }
    #expect(running.isEmpty || running.count == 1 && counts.executing == 0)
    return counts.total
  }

  private func disturb(_ queue: OperationQueue, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var recent: [Operation] = []
    for _ in 0..<Effort.scaled(3_000) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: queue.addBarrierBlock {}
      case 1: queue.isSuspended.toggle()
      case 2: recent.randomElement(using: &random)?.cancel()
      case 3: recent.randomElement(using: &random)?.queuePriority = .veryHigh
      default:
        let operation = Bool.random(using: &random) ? BlockOperation {} : PlainSubclass()
        if let dependency = recent.randomElement(using: &random) {
          operation.addDependency(dependency)
        }
        recent = recent.suffix(20) + [operation]
        queue.addOperation(operation)
      }
    }
  }
}
