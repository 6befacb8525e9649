// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import Synchronization
import TestSupport
import Testing

@Suite("A queue whose operations run on a dispatch queue")
struct UnderlyingQueueTests {
  @Test("MX-9, MX-10: operations of every kind run on it, where their queue is the current one")
  func runsOnIt() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      #expect(queue.underlyingQueue === place.queue)
      let log = EventLog<Bool>()
      let work: @Sendable () -> Void = {
        log.note(place.isRunningHere && OperationQueue.current === queue)
      }
      queue.addOperation(work)
      queue.addOperations([PlainSubclass(work: work)], waitUntilFinished: true)
      queue.addOperation(StartingOperation(work: work))
      queue.addOperation { PlainSubclass(work: work).start() }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [true, true, true, true])
      #expect(place.queue.sync { OperationQueue.current } == nil)
    }
  }

  @Test("MX-9: operations and blocks of a serial queue run in the order of addition")
  func interleaving() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      let log = EventLog<Int>()
      for round in 0..<100 {
        queue.addOperation { log.note(3 * round) }
        queue.addOperation { log.note(3 * round + 1) }
        place.queue.async { log.note(3 * round + 2) }
      }
      // The dispatch queue is serial, so blocks that were submitted earlier have run when the call
      // of `sync` returns.
      place.queue.sync {}
      #expect(log.events == Array(0..<300))
    }
  }

  @Test("MX-9: a serial queue runs one operation at a time, for any widths and several queues")
  func serialisation() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queues = (0..<3).map { _ in OperationQueue() }
      let running = Atomic<Int>(0)
      let overlaps = Atomic<Int>(0)
      for queue in queues {
        queue.underlyingQueue = place.queue
        queue.maxConcurrentOperationCount = 8
      }
      for index in 0..<Effort.scaled(3_000) {
        queues[index % 3].addOperation {
          if running.wrappingAdd(1, ordering: .relaxed).oldValue != 0 {
            overlaps.wrappingAdd(1, ordering: .relaxed)
          }
          running.wrappingSubtract(1, ordering: .relaxed)
        }
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(overlaps.load(ordering: .relaxed) == 0)
    }
  }

  @Test("MX-4: the width applies on a concurrent queue, lowered and raised", arguments: [1, 3])
  func width(width: Int) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      queue.maxConcurrentOperationCount = width
      let first = Gate()
      let second = Gate()
      for _ in 0..<width { queue.addOperation { first.pass() } }
      first.waitForArrivals(width)
      for _ in 0..<2 { queue.addOperation { second.pass() } }
      #expect(second.arrivedCount == 0)
      queue.maxConcurrentOperationCount = width + 2
      second.waitForArrivals(2)
      second.open()
      first.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("MX-5: the default width executes as many operations as Dispatch has threads")
  func defaultWidth() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.underlyingQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
      let gate = Gate()
      for _ in 0..<4 { queue.addOperation { gate.pass() } }
      gate.waitForArrivals(4)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("SR-8572, MX-7, MX-8: suspending starts nothing new and leaves the dispatch queue alone")
  func suspension() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      let log = EventLog<String>()
      queue.isSuspended = true
      queue.addOperation { log.note("operation") }
      place.queue.sync { log.note("block") }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["block", "operation"])

      // The block of the operation is submitted to the dispatch queue but has not begun. So the
      // operation has not started, and suspending the operation queue holds it back.
      place.queue.suspend()
      queue.addOperation { log.note("held back") }
      queue.isSuspended = true
      place.queue.resume()
      place.queue.sync { log.note("second block") }
      #expect(log.events.last == "second block" && queue.operationCount == 1)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events.last == "held back")
    }
  }

  @Test("MX-9: while the dispatch queue itself is suspended its operations wait")
  func suspendedDispatchQueue() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      place.queue.suspend()
      let operation = BlockOperation {}
      queue.addOperation(operation)
      #expect(operation.state == .ready && queue.operationCount == 1)
      place.queue.resume()
      operation.waitUntilFinished()
    }
  }

  @Test("PR-3, CA-6: when a block runs, the first ready operation starts")
  func lateChoice() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      let log = EventLog<String>()
      place.queue.suspend()
      let cancelled = BlockOperation { log.note("cancelled") }
      let raised = BlockOperation { log.note("raised") }
      queue.addOperation { log.note("normal") }
      queue.addOperation(cancelled)
      queue.addOperation(raised)
      let late = BlockOperation { log.note("late") }
      late.queuePriority = .high
      queue.addOperation(late)
      raised.queuePriority = .veryHigh
      cancelled.cancel()
      #expect(!cancelled.isFinished)
      place.queue.resume()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["raised", "late", "normal"])
      #expect(cancelled.isFinished && cancelled.isCancelled)
    }
  }

  @Test("DE-11: dependencies work between queues with and without an underlying queue")
  func dependencies() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      queues[0].underlyingQueue = MarkedQueue().queue
      let log = EventLog<Int>()
      let operations = (0..<200).map { index in BlockOperation { log.note(index) } }
      for (before, after) in zip(operations, operations.dropFirst()) { after.addDependency(before) }
      for (index, operation) in operations.enumerated().reversed() {
        queues[index % 2].addOperation(operation)
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(log.events == Array(0..<200))
    }
  }

  @Test("MX-1: an asynchronous operation on it holds its slot until it has finished")
  func asynchronous() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.underlyingQueue = MarkedQueue().queue
      queue.maxConcurrentOperationCount = 1
      let gate = Gate()
      let log = EventLog<String>()
      queue.addOperation(
        LockedAsynchronousOperation {
          gate.pass()
          log.note("asynchronous")
        })
      queue.addOperation { log.note("next") }
      gate.waitForArrivals(1)
      queue.underlyingQueue?.sync {}
      #expect(log.events.isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["asynchronous", "next"])
    }
  }

  @Test("DE-18: a subclass that is not ready at its turn waits until it announces isReady")
  func customReadiness() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      let operation = SwitchedOperation()
      queue.addOperation(operation)
      place.queue.sync {}
      #expect(!operation.isFinished)
      operation.switchOn()
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.isFinished)
    }
  }

  @Test("MX-9: more ready operations than the limit of blocks all run")
  func moreThanBlocks() async throws {
    try await onOwnThread {
      let place = MarkedQueue()
      let queue = OperationQueue()
      queue.underlyingQueue = place.queue
      place.queue.suspend()
      let runs = Atomic<Int>(0)
      let operations = (0..<5_000).map { _ in
        BlockOperation { runs.wrappingAdd(1, ordering: .relaxed) }
      }
      queue.addOperations(operations, waitUntilFinished: false)
      place.queue.resume()
      queue.waitUntilAllOperationsAreFinished()
      #expect(runs.load(ordering: .relaxed) == 5_000)
    }
  }

  @Test("Q-7: a queue that its user has released finishes its work and is then deallocated")
  func lifetime() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let place = MarkedQueue()
      place.queue.suspend()
      weak var weakQueue: OperationQueue?
      do {
        let queue = ProbedQueue(DeinitProbe("queue", in: log))
        weakQueue = queue
        queue.underlyingQueue = place.queue
        let probe = DeinitProbe("operation", in: log)
        queue.addOperation { probe.touch() }
      }
      #expect(log.events.isEmpty && weakQueue != nil)
      place.queue.resume()
      log.wait(forCount: 2)
      #expect(log.events == ["operation", "queue"] && weakQueue == nil)
    }
  }
}

/// An operation that does its work in its override of `start()`, and then calls `super.start()`.
private final class StartingOperation: Operation, @unchecked Sendable {
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) { self.work = work }

  override func start() {
    work()
    super.start()
  }
}

/// An operation that is not ready until its condition is met.
private final class SwitchedOperation: Operation, @unchecked Sendable {
  private let flag = Flag()

  override var isReady: Bool { super.isReady && flag.isRaised }

  func switchOn() {
    willChangeValue(forKey: "isReady")
    flag.raise()
    didChangeValue(forKey: "isReady")
  }
}

/// A queue whose deallocation a test can observe.
private final class ProbedQueue: OperationQueue, @unchecked Sendable {
  private let probe: DeinitProbe

  init(_ probe: DeinitProbe) {
    self.probe = probe
    super.init()
  }
}
