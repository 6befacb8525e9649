// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsFoundation
import Synchronization
import TestSupport
import Testing

@Suite("A Foundation queue that forwards to a library queue")
struct ForwardingQueueTests {
  /// An operation of Foundation that a test finishes.
  private final class Steered: Foundation.Operation, @unchecked Sendable {
    private let hasStarted = Atomic<Bool>(false)
    private let hasFinished = Atomic<Bool>(false)
    let started = Gate()

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { hasStarted.load(ordering: .acquiring) && !isFinished }
    override var isFinished: Bool { hasFinished.load(ordering: .acquiring) }

    override func start() {
      if isCancelled { return finish() }
      hasStarted.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      started.open()
    }

    func finish() {
      hasFinished.store(true, ordering: .releasing)
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }

  /// A subclass of Foundation's `Operation` that overrides `isReady`.
  private final class Conditional: Foundation.Operation, @unchecked Sendable {
    private let mayStart = Atomic<Bool>(false)

    override var isReady: Bool { super.isReady && mayStart.load(ordering: .acquiring) }

    func allow() {
      mayStart.store(true, ordering: .releasing)
      didChangeValue(forKey: "isReady")
    }
  }

  @Test("It is always the same object, and lives as long as the library's queue")
  func identity() {
    var queue: OperationQueue? = OperationQueue()
    weak let weakQueue = queue
    weak let held = queue?.foundationQueue
    #expect(held != nil && queue?.foundationQueue === held)
    queue = nil
    #expect(weakQueue == nil && held == nil)
    #expect(OperationQueue.main.foundationQueue === Foundation.OperationQueue.main)
  }

  @Test("Retained longer than the library's queue, it keeps working with the same settings")
  func outlivesOurs() async throws {
    try await onOwnThread {
      for isMeanwhileUsed in [false, true] {
        let dispatchQueue = DispatchQueue(label: "below")
        var queue: OperationQueue? = OperationQueue()
        weak let weakQueue = queue
        let held = queue?.foundationQueue
        queue?.progress.totalUnitCount = 1
        queue?.name = "mine"
        queue?.maxConcurrentOperationCount = 3
        queue?.qualityOfService = .utility
        queue?.underlyingQueue = dispatchQueue
        if isMeanwhileUsed {
          held?.addOperation {}
          held?.waitUntilAllOperationsAreFinished()
        }
        queue?.waitUntilAllOperationsAreFinished()
        queue = nil
        let patience = Date(timeIntervalSinceNow: 30)
        while weakQueue != nil, Date() < patience { sched_yield() }
        #expect(weakQueue == nil)
        #expect(held?.name == "mine" && held?.maxConcurrentOperationCount == 3)
        #expect(held?.qualityOfService == .utility && held?.underlyingQueue === dispatchQueue)
        let log = EventLog<String>()
        held?.addOperation { log.note(OperationQueue.current?.name ?? "nowhere") }
        held?.addOperation(Foundation.BlockOperation { log.note("operation") })
        held?.waitUntilAllOperationsAreFinished()
        #expect(Set(log.events) == ["mine", "operation"])
        #expect(held?.progress.totalUnitCount == 1)
      }
    }
  }

  @Test("Used in the deinit of our queue, it has the settings of that")
  func usedDuringDeinit() {
    final class Leaving: OperationQueue, @unchecked Sendable {
      let dispatchQueue = DispatchQueue(label: "below")
      let seen: Monitored<Foundation.OperationQueue?>

      init(seen: Monitored<Foundation.OperationQueue?>) { self.seen = seen }

      deinit {
        let held = seen.value
        #expect(held?.name == "mine" && held?.maxConcurrentOperationCount == 3)
        #expect(held?.underlyingQueue === dispatchQueue)
      }
    }
    let seen = Monitored<Foundation.OperationQueue?>(nil)
    var queue: Leaving? = Leaving(seen: seen)
    seen.change { $0 = queue?.foundationQueue }
    queue?.name = "mine"
    queue?.maxConcurrentOperationCount = 3
    queue?.underlyingQueue = queue?.dispatchQueue
    queue = nil
    #expect(seen.value?.name == "mine")
  }

  @Test("Used while the library's queue is released, it loses no operation")
  func goesAwayMeanwhile() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(300) {
        let log = EventLog<Int>()
        let queue = Monitored<OperationQueue?>(OperationQueue())
        let held = queue.value?.foundationQueue
        onThreads(2) { thread in
          if thread == 0 { return queue.change { $0 = nil } }
          for number in 0..<4 { held?.addOperation { log.note(number) } }
        }
        held?.waitUntilAllOperationsAreFinished()
        log.wait(forCount: 4)
      }
    }
  }

  @Test("Blocks, barriers and operations run as the library's operations, in its queue")
  func runsInOurs() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.maxConcurrentOperationCount = 1
      let log = EventLog<String>()
      let note: @Sendable (String) -> Void = { name in
        log.note(OperationQueue.current === queue ? name : "\(name) elsewhere")
      }
      let foundationQueue = queue.foundationQueue
      foundationQueue.addOperation { note("block") }
      foundationQueue.addOperation(Foundation.BlockOperation { note("operation") })
      foundationQueue.addBarrierBlock { note("barrier") }
      #expect(queue.operationCount == 2 && log.events.isEmpty)
      startThread { queue.isSuspended = false }
      foundationQueue.addOperations(
        [Foundation.BlockOperation { note("one") }, Foundation.BlockOperation { note("other") }],
        waitUntilFinished: true)
      #expect(log.events == ["block", "operation", "barrier", "one", "other"])
      foundationQueue.waitUntilAllOperationsAreFinished()
      #expect(queue.operationCount == 0)
    }
  }

  @Test("Its properties are those of the library's queue, to read and to set")
  func properties() {
    let queue = OperationQueue()
    let foundationQueue = queue.foundationQueue
    let dispatchQueue = DispatchQueue(label: "below")
    foundationQueue.maxConcurrentOperationCount = 3
    foundationQueue.isSuspended = true
    foundationQueue.name = "ours"
    foundationQueue.qualityOfService = .utility
    foundationQueue.underlyingQueue = dispatchQueue
    #expect(queue.maxConcurrentOperationCount == 3 && queue.isSuspended && queue.name == "ours")
    #expect(queue.qualityOfService == .utility && queue.underlyingQueue === dispatchQueue)
    queue.maxConcurrentOperationCount = 5
    queue.isSuspended = false
    queue.name = "still ours"
    queue.underlyingQueue = nil
    queue.qualityOfService = .background
    #expect(foundationQueue.maxConcurrentOperationCount == 5 && !foundationQueue.isSuspended)
    #expect(foundationQueue.name == "still ours" && foundationQueue.underlyingQueue == nil)
    #expect(foundationQueue.qualityOfService == .background)
    #expect(foundationQueue.progress === queue.progress)
  }

  @Test(
    "An operation keeps name, priority and quality of service, and has a slot until it finishes")
  func asynchronous() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let steered = Steered()
      steered.name = "steered"
      steered.queuePriority = .high
      steered.qualityOfService = .utility
      queue.foundationQueue.addOperation(steered)
      guard steered.started.waitUntilOpen() else { return }
      let next = BlockOperation {}
      queue.addOperation(next)
      let first = queue.operations.first
      #expect(first?.name == "steered" && first?.queuePriority == .high)
      #expect(first?.qualityOfService == .utility && first?.isExecuting == true)
      #expect(next.state == .ready, "the width is 1")
      steered.finish()
      next.waitUntilFinished()
      first?.waitUntilFinished()
      #expect(first?.isExecuting == false && queue.operationCount == 0)
    }
  }

  @Test("Foundation's dependencies delay it without a slot, in other queues and outside queues")
  func dependencies() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let log = EventLog<Int>()
        let last = Foundation.BlockOperation { log.note(3) }
        let middle = Foundation.BlockOperation { log.note(2) }
        let first = Foundation.BlockOperation { log.note(1) }
        let elsewhere = Foundation.BlockOperation {}
        last.addDependency(middle)
        last.addDependency(elsewhere)
        middle.addDependency(first)
        queue.foundationQueue.addOperations([last, middle, first], waitUntilFinished: false)
        elsewhere.start()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == [1, 2, 3])
      }
    }
  }

  @Test("An operation that is not ready at its start runs when its readiness changes")
  func ownReadiness() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let conditional = Conditional()
      queue.foundationQueue.addOperation(conditional)
      queue.addOperation { conditional.allow() }
      queue.waitUntilAllOperationsAreFinished()
      #expect(conditional.isFinished)
    }
  }

  @Test(
    "Cancelling our queue's operations, or its, cancels Foundation's, which finish without running")
  func cancelling() async throws {
    try await onOwnThread {
      for cancelsOurs in [true, false] {
        let queue = OperationQueue()
        queue.isSuspended = true
        let block = Foundation.BlockOperation { Issue.record("cancelled, and ran") }
        let steered = Steered()
        let blocked = Foundation.BlockOperation { Issue.record("cancelled, and ran") }
        blocked.addDependency(Foundation.Operation())
        queue.foundationQueue.addOperations([block, steered, blocked], waitUntilFinished: false)
        if cancelsOurs {
          queue.cancelAllOperations()
        } else {
          queue.foundationQueue.cancelAllOperations()
        }
        #expect(block.isCancelled && steered.isCancelled && blocked.isCancelled)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(block.isFinished && steered.isFinished && blocked.isFinished)
      }
    }
  }

  @Test("An operation that its owner cancels finishes without running, and leaves")
  func cancelledByItsOwner() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let block = Foundation.BlockOperation { Issue.record("cancelled, and ran") }
      queue.foundationQueue.addOperation(block)
      block.cancel()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(block.isFinished)
    }
  }

  @Test("PG-1: an operation of Foundation's counts in our queue's progress")
  func progress() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.foundationQueue.progress.totalUnitCount = 2
      queue.foundationQueue.addOperations(
        [Foundation.BlockOperation {}, Foundation.BlockOperation {}], waitUntilFinished: true)
      #expect(queue.progress.completedUnitCount == 2)
    }
  }

  @Test("Operations of many threads at once all run, and leave nothing behind")
  func stress() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let rounds = Effort.scaled(1_000)
      let count = Monitored(0)
      let queue = OperationQueue()
      do {
        let foundationQueue = queue.foundationQueue
        let probe = DeinitProbe("released", in: log)
        onThreads(4) { _ in
          for round in 0..<rounds {
            let operation = Foundation.BlockOperation {
              probe.touch()
              count.change { $0 += 1 }
            }
            let dependency = Foundation.BlockOperation {}
            if round.isMultiple(of: 3) { operation.addDependency(dependency) }
            foundationQueue.addOperations([operation, dependency], waitUntilFinished: false)
            if round.isMultiple(of: 7) { dependency.cancel() }
          }
        }
        queue.waitUntilAllOperationsAreFinished()
        probe.touch()
      }
      #expect(count.value == 4 * rounds)
      log.wait(for: "released")
    }
  }

  /// An object whose `deinit` adds a block to the queue.
  private final class LastWords: Sendable {
    private let queue: OperationQueue
    init(_ queue: OperationQueue) { self.queue = queue }
    deinit { queue.foundationQueue.addOperation {} }
    func touch() {}
  }

  /// An operation adds blocks to its queue, while another thread releases cancelled blocks.
  @Test("H-5: the captures of a cancelled block may add a block when they are released")
  func cancelledInnerBlocks() async throws {
    try await onOwnThread(within: .seconds(60)) {
      for _ in 0..<Effort.scaled(1_000) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let mayCancel = Gate()
        queue.addOperation { mayCancel.pass() }
        queue.addOperation {
          let inner = queue.foundationQueue
          for _ in 0..<200 {
            let words = LastWords(queue)
            inner.addOperation { words.touch() }
          }
          for operation in queue.operations.dropFirst(2) { operation.cancel() }
          mayCancel.open()
          for _ in 0..<200 { inner.addOperation {} }
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  @Test("The time for adding blocks inside an operation does not grow with their number")
  func manyInnerBlocks() async throws {
    try await onOwnThread {
      let costs = [1_000, 8_000].map { count in
        let cost = Monitored(Duration.zero)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.addOperation {
          let inner = queue.foundationQueue
          let before = threadProcessorTime()
          for _ in 0..<count { inner.addOperation {} }
          cost.change { $0 = threadProcessorTime() - before }
        }
        queue.waitUntilAllOperationsAreFinished()
        return cost.value
      }
      // If each addition examined all blocks, 8 times as many blocks would cost 64 times as much.
      #expect(costs[1] < costs[0] * 24)
    }
  }
}
