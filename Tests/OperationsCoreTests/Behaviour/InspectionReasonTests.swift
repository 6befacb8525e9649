// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Why an operation is not running")
struct InspectionReasonTests {
  /// An operation that is ready regardless of its dependencies.
  private final class Careless: Operation, @unchecked Sendable {
    override var isReady: Bool { true }
  }

  private func reference(_ operation: Operation) -> OperationReference {
    OperationReference(operation)
  }

  private func suspendedQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.isSuspended = true
    return queue
  }

  /// Returns a queue with one slot. An operation uses the slot until the gate is opened.
  private func busyQueue(_ gate: Gate) -> (queue: OperationQueue, holder: Operation) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let holder = BlockOperation { gate.pass() }
    queue.addOperation(holder)
    gate.waitForArrivals(1)
    return (queue, holder)
  }

  private func chain(_ reasons: [NotRunningReason]) -> OperationDependencyChain? {
    for case .unmetDependencies(_, _, let chain) in reasons { return chain }
    return nil
  }

  private func awaitReasons(of operation: Operation, _ reasons: [NotRunningReason]) {
    let deadline = ContinuousClock.now + .seconds(Patience.seconds)
    while operation.reasonsNotRunning() != reasons, .now < deadline { sched_yield() }
    #expect(operation.reasonsNotRunning() == reasons)
  }

  @Test("Executing and finished operations have no reasons, cancelled or not")
  func running() async throws {
    try await onOwnThread {
      let gate = Gate()
      let (queue, holder) = busyQueue(gate)
      holder.addDependency(Operation())
      #expect(holder.reasonsNotRunning().isEmpty)
      holder.cancel()
      #expect(holder.reasonsNotRunning().isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(holder.reasonsNotRunning().isEmpty)
    }
  }

  @Test("It was added to no queue")
  func notInQueue() {
    let operation = Operation()
    #expect(operation.reasonsNotRunning() == [.notInQueue])
    let queue = suspendedQueue()
    queue.addOperation(operation)
    #expect(!operation.reasonsNotRunning().contains(.notInQueue))
    queue.cancelAllAndResume()
    let byHand = Operation()
    byHand.start()
    #expect(byHand.reasonsNotRunning().isEmpty)
  }

  @Test("Its queue is suspended, or its width is 0")
  func suspended() async throws {
    try await onOwnThread {
      let queue = suspendedQueue()
      queue.name = "net"
      let operation = BlockOperation {}
      queue.addOperation(operation)
      let expected = NotRunningReason.queueSuspended(QueueReference(queue))
      #expect(operation.reasonsNotRunning() == [expected])
      #expect(expected.description == "its queue “net” is suspended")
      queue.maxConcurrentOperationCount = 0
      queue.isSuspended = false
      #expect(operation.reasonsNotRunning() == [expected])
      queue.maxConcurrentOperationCount = 1
      operation.waitUntilFinished()
      #expect(operation.reasonsNotRunning().isEmpty)
      let gate = Gate()
      let (busy, _) = busyQueue(gate)
      let other = BlockOperation {}
      busy.addOperation(other)
      #expect(!other.reasonsNotRunning().contains(.queueSuspended(QueueReference(busy))))
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Dependencies are unmet; the chain follows the slowest to an executing operation")
  func unmetDependencies() async throws {
    try await onOwnThread {
      let gate = Gate()
      let (queue, holder) = busyQueue(gate)
      holder.name = "tiles"
      let done = Operation()
      done.start()
      let middle = Operation()
      middle.addDependency(holder)
      let operation = Operation()
      for dependency in [done, holder, middle] { operation.addDependency(dependency) }
      queue.addOperations([middle, operation], waitUntilFinished: false)
      let chain = OperationDependencyChain(
        operations: [reference(middle), reference(holder)], end: .executing)
      let reason = NotRunningReason.unmetDependencies(
        unmet: [reference(holder), reference(middle)], total: 3, chain: chain)
      #expect(operation.reasonsNotRunning() == [reason])
      #expect(
        reason.description == "2 of 3 dependencies have not finished: it waits for "
          + "\(middle.id), which waits for \(holder.id) “tiles”, which is executing")
      operation.cancel()
      #expect(self.chain(operation.reasonsNotRunning()) == nil)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A subclass that is ready regardless of dependencies does not wait for them")
  func ownReadinessAlone() {
    let queue = suspendedQueue()
    let operation = Careless()
    operation.addDependency(Operation())
    queue.addOperation(operation)
    #expect(operation.reasonsNotRunning() == [.queueSuspended(QueueReference(queue))])
    queue.cancelAllAndResume()
  }

  @Test("DE-18: its own isReady is false although its dependencies are met")
  func notReadyByItself() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependency = Operation()
      let operation = FlaggedOperation()
      operation.addDependency(dependency)
      queue.addOperation(operation)
      #expect(!operation.reasonsNotRunning().contains(.notReadyByItself), "dependencies come first")
      queue.addOperation(dependency)
      // The reason appears when a worker has evaluated the operation's `isReady`.
      awaitReasons(of: operation, [.notReadyByItself])
      operation.flag.raise()
      #expect(operation.reasonsNotRunning() == [.notReadyByItself], "the change was not announced")
      operation.allow()
      operation.waitUntilFinished()
      #expect(operation.reasonsNotRunning().isEmpty)
    }
  }

  @Test("A position is counted up to a limit, so that the queue is not blocked for long")
  func positionLimit() async throws {
    try await onOwnThread {
      let gate = Gate()
      let (queue, _) = busyQueue(gate)
      queue.name = "cpu"
      let limit = NotRunningReason.positionLimit
      let operations = (0...limit + 1).map { _ in BlockOperation {} }
      queue.addOperations(operations, waitUntilFinished: false)
      let words = [limit - 1, limit, limit + 1].map { index in
        operations[index].reasonsNotRunning().map(\.description).joined()
      }
      #expect(words[0].contains("number \(limit) in “cpu”"))
      #expect(words[1].contains("behind \(limit) or more in “cpu”"))
      #expect(words[2].contains("behind \(limit) or more in “cpu”"))
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Every slot is used: the holders, and the number of operations before it")
  func noFreeSlot() async throws {
    try await onOwnThread {
      let gate = Gate()
      let (queue, holder) = busyQueue(gate)
      queue.name = "cpu"
      let operations = (0..<3).map { _ in BlockOperation {} }
      operations[2].queuePriority = .high
      queue.addOperations(operations, waitUntilFinished: false)
      let positions = [1, 2, 0]
      for (operation, position) in zip(operations, positions) {
        let reason = NotRunningReason.noFreeSlot(
          QueueReference(queue), width: 1, position: position, holders: [reference(holder)])
        #expect(operation.reasonsNotRunning() == [reason])
        #expect(
          reason.description
            == "it is ready, number \(position + 1) in “cpu”, and its only slot is used by "
            + "\(holder.id)")
      }
      let waiting = Operation()
      waiting.addDependency(holder)
      queue.addOperation(waiting)
      #expect(waiting.reasonsNotRunning().count == 1, "only ready operations wait for slots")
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("It is ready and a slot is free, but no thread has started it")
  func notStartedYet() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dispatchQueue = DispatchQueue(label: "held")
      queue.underlyingQueue = dispatchQueue
      dispatchQueue.suspend()
      let operations = [BlockOperation {}, BlockOperation {}]
      queue.addOperations(operations, waitUntilFinished: false)
      for (position, operation) in operations.enumerated() {
        let reasons = operation.reasonsNotRunning()
        guard reasons.count == 1,
          case .notStartedYet(let name, .dispatchQueue, position, _) = reasons.first
        else {
          Issue.record("Reported: \(reasons)")
          continue
        }
        #expect(name == QueueReference(queue))
      }
      queue.isSuspended = true
      #expect(operations[0].reasonsNotRunning() == [.queueSuspended(QueueReference(queue))])
      queue.isSuspended = false
      dispatchQueue.resume()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The time since it became ready is reported if a collector records")
  func readyFor() async throws {
    try await onOwnThread {
      let queue = OperationQueue(unlistedNamed: "timed")
      let dispatchQueue = DispatchQueue(label: "held")
      queue.underlyingQueue = dispatchQueue
      dispatchQueue.suspend()
      let collector = CollectorID()
      let before = BlockOperation {}
      queue.addOperation(before)
      MonitorLevel.raise()
      defer { MonitorLevel.lower() }
      queue.core.keepRecords(for: collector, replaces: true) {}
      let after = BlockOperation {}
      queue.addOperation(after)
      func time(_ operation: Operation) -> Duration? {
        for case .notStartedYet(_, _, _, let time) in operation.reasonsNotRunning() { return time }
        return nil
      }
      #expect(time(before) == nil)
      #expect(time(after).map { $0 >= .zero && $0 < .seconds(240) } == true)
      dispatchQueue.resume()
      queue.waitUntilAllOperationsAreFinished()
      queue.core.dropRecords(of: collector)
    }
  }

  @Test("A barrier is before it, which waits or runs")
  func barrierAhead() async throws {
    try await onOwnThread {
      let gates = [Gate(), Gate()]
      let queue = OperationQueue()
      queue.addOperation { gates[0].pass() }
      gates[0].waitForArrivals(1)
      let ahead = Operation()
      let dependency = Operation()
      ahead.addDependency(dependency)
      queue.addOperation(ahead)
      queue.addBarrierBlock { gates[1].pass() }
      queue.addBarrierBlock {}
      let behind = Operation()
      queue.addOperation(behind)
      let barrier = queue.snapshot().operations[2].id
      func barriers(_ operation: Operation) -> [(OperationID, Bool, Int)] {
        operation.reasonsNotRunning().compactMap {
          guard case .barrierAhead(let barrier, let isRunning, let count) = $0 else { return nil }
          return (barrier.id, isRunning, count)
        }
      }
      #expect(barriers(behind).first ?? (barrier, true, 0) == (barrier, false, 2))
      #expect(behind.reasonsNotRunning().count == 1, "the barrier is the only reason")
      #expect(barriers(ahead).isEmpty)
      dependency.start()
      gates[0].open()
      gates[1].waitForArrivals(1)
      #expect(barriers(behind).first ?? (barrier, false, 0) == (barrier, true, 2))
      gates[1].open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(behind.reasonsNotRunning().isEmpty)
    }
  }

  @Test("Dependencies are not in a queue and were not started")
  func neverAdded() async throws {
    try await onOwnThread {
      let queue = suspendedQueue()
      let forgotten = [Operation(), Operation()]
      let operation = Operation()
      for dependency in forgotten { operation.addDependency(dependency) }
      queue.addOperation(operation)
      let reason = NotRunningReason.dependenciesNeverAdded(forgotten.map(reference))
      #expect(operation.reasonsNotRunning().last == reason)
      #expect(
        reason.description
          == "it waits for \(forgotten[0].id), \(forgotten[1].id), which are not in a "
          + "queue and were not started")
      queue.addOperation(forgotten[0])
      #expect(
        operation.reasonsNotRunning().last == .dependenciesNeverAdded([reference(forgotten[1])]))
      forgotten[1].start()
      #expect(
        !operation.reasonsNotRunning().contains {
          if case .dependenciesNeverAdded = $0 { true } else { false }
        })
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Several reasons are reported in order")
  func order() {
    let queue = suspendedQueue()
    let operation = Operation()
    let forgotten = Operation()
    operation.addDependency(forgotten)
    queue.addBarrierBlock {}
    queue.addOperation(operation)
    let reasons = operation.reasonsNotRunning()
    guard reasons.count == 4, case .queueSuspended = reasons[0],
      case .unmetDependencies = reasons[1], case .barrierAhead = reasons[2],
      case .dependenciesNeverAdded = reasons[3]
    else {
      Issue.record("Reported: \(reasons)")
      return
    }
    queue.cancelAllAndResume()
  }

  @Test("Reasons read while operations come and go name no released operation")
  func askingRaces() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let asked = Monitored<Operation?>(nil)
      let isDone = Flag()
      onThreads(2) { thread in
        if thread == 0 {
          while !isDone.isRaised {
            guard let operation = asked.value else { continue }
            for reason in operation.reasonsNotRunning() { _ = reason.description }
          }
          return
        }
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Effort.scaled(3_000) {
          let queue = OperationQueue()
          queue.maxConcurrentOperationCount = Int.random(in: 1...2, using: &random)
          let first = PlainSubclass()
          let second = Operation()
          second.addDependency(first)
          asked.change { $0 = second }
          if Bool.random(using: &random) { queue.addBarrierBlock {} }
          queue.addOperations([first, second], waitUntilFinished: Bool.random(using: &random))
        }
        isDone.raise()
      }
    }
  }
}
