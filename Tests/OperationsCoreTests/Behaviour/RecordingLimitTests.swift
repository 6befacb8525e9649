// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Recording a part of the operations", .serialized)
struct RecordingLimitTests {
  /// A queue with one slot, and the changes that were recorded for it.
  private final class Recorded {
    let queue = OperationQueue(unlistedNamed: "recorded")
    private(set) var collector = CollectorID()
    private(set) var known: [OperationID: RecordedOperation] = [:]
    private(set) var lostSteps = 0

    init(newRecords: Int) {
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      MonitorLevel.raise()
      begin(newRecords: newRecords)
    }

    deinit { MonitorLevel.lower() }

    func begin(newRecords: Int) {
      queue.core.keepRecords(for: collector, replaces: true, newRecords: newRecords) {}
    }

    func stop() { queue.core.dropRecords(of: collector) }

    /// Ends the recording, and begins a new one with another collector.
    func changeCollector(newRecords: Int) {
      stop()
      collector = CollectorID()
      known = [:]
      begin(newRecords: newRecords)
    }

    @discardableResult
    func read(limit: Int = 100, adopting: Int = .max, newRecords: Int? = 0) -> QueueChanges {
      let changes = queue.takeChanges(
        for: collector, limit: limit, adopting: adopting, newRecords: newRecords)
      for one in changes.changed { known[one.id] = one }
      lostSteps += changes.lostSteps
      return changes
    }

    func readAll() {
      while true {
        let changes = read()
        if !changes.hasMore, !changes.hasUnrecorded { return }
      }
    }

    func add(_ count: Int) -> [BlockOperation] {
      let operations = (0..<count).map { _ in BlockOperation {} }
      for operation in operations { queue.addOperation(operation) }
      return operations
    }

    func finishAll() {
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Operations beyond the number are found in the queue later, up to N per reading, once")
  func adoption() {
    let recorded = Recorded(newRecords: 3)
    let operations = recorded.add(10)
    #expect(operations.filter { $0.record != nil }.map(\.id) == operations.prefix(3).map(\.id))
    let first = recorded.read(adopting: 4)
    #expect(first.changed.map(\.id) == operations.prefix(7).map(\.id))
    #expect(first.adoptedCount == 4 && first.hasUnrecorded && !first.hasMore)
    #expect(first.lostSteps == 7, "the additions were not recorded")
    #expect(first.changed.allSatisfy { $0.state == .ready })
    #expect(
      first.changed.map { $0.added != nil } == [true, true, true]
        + Array(repeating: false, count: 4))
    let second = recorded.read(adopting: 4)
    #expect(second.changed.map(\.id) == operations.suffix(3).map(\.id))
    #expect(second.adoptedCount == 3 && !second.hasUnrecorded && second.lostSteps == 0)
    #expect(recorded.read().changed.isEmpty)
    recorded.finishAll()
    recorded.readAll()
    #expect(recorded.known.values.allSatisfy { $0.state == .finished && $0.started != nil })
    recorded.stop()
  }

  @Test("An operation that is read again is recorded from the start again")
  func allowanceReturns() {
    let recorded = Recorded(newRecords: 1)
    _ = recorded.add(2)
    recorded.read(newRecords: 2)
    let operations = recorded.add(3)
    #expect(operations.map { $0.record != nil } == [true, true, false])
    recorded.read(newRecords: nil)
    #expect(recorded.add(1).allSatisfy { $0.record == nil })
    recorded.finishAll()
    recorded.stop()
  }

  @Test("For operations without a record, the state changes are counted")
  func lostSteps() {
    let recorded = Recorded(newRecords: 0)
    _ = recorded.add(20)
    recorded.finishAll()
    let changes = recorded.read()
    #expect(changes.changed.isEmpty && changes.counts.finished == 20 && changes.counts.total == 20)
    #expect(changes.lostSteps == 3 * 20, "ready, executing and finished")
    #expect(!changes.hasUnrecorded)
    recorded.stop()
  }

  @Test("Running operations are known at the next reading, wherever they are in the queue")
  func running() {
    let recorded = Recorded(newRecords: 0)
    _ = recorded.add(50)
    let gate = Gate()
    let last = BlockOperation { gate.pass() }
    last.queuePriority = .veryHigh
    recorded.queue.addOperation(last)
    recorded.queue.isSuspended = false
    gate.waitForArrivals(1)
    let changes = recorded.read(adopting: 0)
    #expect(changes.changed.map(\.id) == [last.id])
    #expect(changes.changed.allSatisfy { $0.state == .executing && $0.isStartApproximate })
    #expect(changes.changed.allSatisfy { $0.started != nil && $0.added == nil })
    #expect(recorded.read(adopting: 0).changed.isEmpty, "once")
    gate.open()
    recorded.finishAll()
    recorded.readAll()
    #expect(recorded.known[last.id]?.state == .finished)
    #expect(recorded.known[last.id]?.finished != nil && recorded.known[last.id]?.added == nil)
    #expect(recorded.known[last.id]?.started == nil, "how long it ran is not known")
    recorded.stop()
  }

  @Test(
    "A later collector receives every operation, and unchanged ones with their times"
  )
  func anotherCollector() {
    let recorded = Recorded(newRecords: .max)
    let operations = recorded.add(5)
    recorded.readAll()
    operations[1].cancel()
    recorded.readAll()
    let added = recorded.known.mapValues(\.added)
    let cancelled = recorded.known[operations[1].id]?.cancelRequested
    recorded.changeCollector(newRecords: 0)
    operations[2].cancel()
    recorded.readAll()
    #expect(cancelled != nil)
    #expect(recorded.known[operations[1].id]?.cancelRequested == cancelled)
    #expect(Set(recorded.known.keys) == Set(operations.map(\.id)))
    #expect(recorded.known.mapValues(\.added) == added)
    #expect(recorded.known[operations[2].id]?.isCancelled == true)
    recorded.finishAll()
    recorded.readAll()
    #expect(recorded.known.values.allSatisfy { $0.state == .finished })
    recorded.stop()
  }

  @Test("The finish of a recorded operation's dependency is reported even without other changes")
  func awaited() {
    let recorded = Recorded(newRecords: 0)
    let dependencies = (0..<3).map { _ in BlockOperation {} }
    for dependency in dependencies { recorded.queue.addOperation(dependency) }
    recorded.read(adopting: 0, newRecords: 1)
    let dependent = BlockOperation {}
    for dependency in dependencies { dependent.addDependency(dependency) }
    dependent.addDependency(BlockOperation {})
    recorded.queue.addOperation(dependent)
    recorded.read(adopting: 0)
    #expect(recorded.known[dependent.id]?.unmetDependencies.count == 4)
    recorded.queue.isSuspended = false
    for dependency in dependencies { dependency.waitUntilFinished() }
    recorded.read(adopting: 0)
    for dependency in dependencies {
      #expect(recorded.known[dependency.id]?.state == .finished)
    }
    dependent.cancel()
    recorded.finishAll()
    recorded.stop()
  }

  @Test(
    "The finish of a running operation without a record is reported if a recorded operation waits for it",
    arguments: [false, true])
  func awaitedWhileRunning(fails: Bool) {
    let recorded = Recorded(newRecords: 0)
    let gate = Gate()
    let dependency = BlockOperation { gate.pass() }
    recorded.queue.addOperation(dependency)
    recorded.read(adopting: 0, newRecords: 1)
    recorded.queue.isSuspended = false
    #expect(gate.waitForArrivals(1))
    if fails { dependency.fail(with: CancellationError()) }
    let dependent = BlockOperation {}
    for other in [dependency, BlockOperation {}] { dependent.addDependency(other) }
    recorded.queue.addOperation(dependent)
    gate.open()
    dependency.waitUntilFinished()
    recorded.read(adopting: 0)
    #expect(recorded.known[dependency.id]?.state == .finished)
    #expect(recorded.known[dependency.id]?.hasFailed == fails)
    dependent.cancel()
    recorded.finishAll()
    recorded.stop()
  }

  @Test("A queue that is made while collectors come and go is recorded by the last one, or by none")
  func queuesOfTheMoment() {
    let isOver = Flag()
    let queues = Monitored<[OperationQueue]>([])
    onThreads(2) { thread in
      if thread == 0 {
        for _ in 0..<Effort.scaled(2_000) {
          let queue = OperationQueue()
          queues.change { $0.append(queue) }
        }
        isOver.raise()
      } else {
        while !isOver.isRaised {
          let collector = CollectorID()
          QueueRegistry.keepRecords(for: collector) {}
          QueueRegistry.dropRecords(of: collector)
        }
      }
    }
    let left = queues.value.count { $0.core.withScheduler { s, _ in s.monitor.collector } != nil }
    #expect(left == 0)
    let collector = CollectorID()
    QueueRegistry.keepRecords(for: collector) {}
    let joined = queues.value.count {
      $0.core.withScheduler { s, _ in s.monitor.collector } == collector
    }
    #expect(joined == queues.value.count)
    QueueRegistry.dropRecords(of: collector)
  }

  /// Observes a queue with a handler that calls a closure when it is released.
  private func observe(
    _ queue: OperationQueue?, atDeinit: @escaping @Sendable () -> Void
  ) -> NSKeyValueObservation? {
    let probe = PlainSubclass(atDeinit: atDeinit)
    return queue?.observe(\.name) { [probe] _, _ in withExtendedLifetime(probe) {} }
  }

  @Test(
    "The last changes of a queue are read before, during and after its deinit", arguments: 0...2)
  func destroyedQueue(moment: Int) throws {
    let collector = CollectorID()
    QueueRegistry.keepRecords(for: collector) {}
    defer { QueueRegistry.dropRecords(of: collector) }
    let isDestroyed = Gate()
    let mayEnd = Gate()
    let hasEnded = Gate()
    let operation = BlockOperation {}
    var queue: OperationQueue? = OperationQueue()
    let id = try #require(queue).id
    // The queue's deinit ends the observation, which releases the handler and the probe.
    let observation = observe(
      queue,
      atDeinit: {
        isDestroyed.open()
        mayEnd.pass()
      })
    queue?.addOperations([operation], waitUntilFinished: true)
    // The thread that has run the operation still retains the queue for a moment.
    #expect(poll(for: .seconds(Patience.seconds)) { isKnownUniquelyReferenced(&queue) })
    if moment > 0 {
      let last = Monitored(queue)
      queue = nil
      startThread {
        last.change { $0 = nil }
        hasEnded.open()
      }
      isDestroyed.pass()
    }
    if moment == 2 {
      mayEnd.open()
      hasEnded.pass()
    }
    let (existing, departed) = QueueRegistry.takeQueues()
    #expect(existing.contains { $0.id == id } == (moment == 0))
    let known = existing.filter { $0.id == id }.map { $0.takeChanges(for: collector, limit: .max) }
    let gone = departed.map { $0.takeChanges(for: collector, limit: .max) }
    let changes = try #require((known + gone).first { $0.id == id })
    #expect(changes.changed.map(\.id) == [operation.id])
    #expect(changes.changed.first?.state == .finished)
    mayEnd.open()
    withExtendedLifetime((queue, observation)) {}
  }

  @Test("A record that was dropped with its collector is no longer reported")
  func droppedRecord() {
    let recorded = Recorded(newRecords: .max)
    let operations = recorded.add(2)
    recorded.readAll()
    recorded.stop()
    operations[0].cancel()
    recorded.finishAll()
    #expect(operations.allSatisfy { $0.record?.snapshot.state == .ready })
    #expect(recorded.read().changed.isEmpty)
  }

  @Test(
    "After random changes, each operation in the queue is known in the end"
  )
  func losslessState() {
    let seed = SeededGenerator.announcedSeed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<Effort.scaled(300) {
      let recorded = Recorded(newRecords: Int.random(in: 0...4, using: &random))
      var added: [BlockOperation] = []
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2: added += recorded.add(Int.random(in: 1...5, using: &random))
        case 3:
          recorded.read(
            limit: Int.random(in: 1...5, using: &random),
            adopting: Int.random(in: 0...3, using: &random),
            newRecords: Int.random(in: 0...4, using: &random))
        case 4: added.randomElement(using: &random)?.cancel()
        default:
          // Some operations at the front of the queue finish. Cancelled operations may leave from
          // the middle of the queue.
          let gate = Gate()
          let last = BlockOperation { gate.pass() }
          last.queuePriority = Bool.random(using: &random) ? .veryHigh : .normal
          added.append(last)
          recorded.queue.addOperation(last)
          recorded.queue.isSuspended = false
          gate.waitForArrivals(1)
          if Bool.random(using: &random) { recorded.read(adopting: 1, newRecords: 1) }
          recorded.queue.isSuspended = true
          gate.open()
          last.waitUntilFinished()
        }
      }
      recorded.readAll()
      let unfinished = added.filter { !$0.isFinished }
      for operation in unfinished {
        let known = recorded.known[operation.id]
        #expect(known?.state == .ready, "seed \(seed)")
        #expect(known?.isCancelled == operation.isCancelled, "seed \(seed)")
      }
      #expect(
        recorded.known.values.count { $0.state != .finished } == unfinished.count, "seed \(seed)")
      recorded.finishAll()
      recorded.readAll()
      #expect(recorded.known.values.allSatisfy { $0.state == .finished }, "seed \(seed)")
      recorded.stop()
    }
  }
}
