// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Lifetimes", .oneAtATime)
struct LifetimeTests {
  @Test("SR-6420, Q-7: a queue that its user has released finishes its work and is then released")
  func queueWithoutUser() async throws {
    try await onOwnThread {
      for width in [1, 4, -1] {
        let log = EventLog<String>()
        let gate = Gate()
        do {
          let queue = NotedQueue(log)
          queue.maxConcurrentOperationCount = width
          queue.addOperation { gate.pass() }
          for _ in 0..<3 { queue.addOperation { log.note("ran") } }
          queue.addOperation(LockedAsynchronousOperation { log.note("ran") })
        }
        gate.waitForArrivals(1)
        gate.open()
        log.wait(for: "queue released")
        #expect(log.events == ["ran", "ran", "ran", "ran", "queue released"])
      }
    }
  }

  @Test("Q-7: an idle queue is deallocated with its last reference")
  func idleQueue() {
    let log = EventLog<String>()
    _ = NotedQueue(log)
    #expect(log.events == ["queue released"])
  }

  @Test("Q-7: the end of a queue may wait for an operation of another queue")
  func queueThatWaitsAtItsEnd() async throws {
    try await onOwnThread {
      let other = OperationQueue()
      let dependent = BlockOperation {}
      let ended = Gate()
      do {
        let queue = QueueWithDeinit {
          dependent.waitUntilFinished()
          ended.open()
        }
        let dependency = BlockOperation {}
        dependent.addDependency(dependency)
        other.addOperation(dependent)
        queue.addOperation(dependency)
      }
      #expect(ended.waitUntilOpen())
    }
  }

  @Test("Q-8: a suspended queue stays while it has operations, and is released after resuming")
  func suspendedQueue() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      weak var remembered: OperationQueue?
      do {
        let queue = NotedQueue(log)
        queue.isSuspended = true
        queue.addOperation { log.note("ran") }
        #expect(queue.operationCount == 1)
        remembered = queue
      }
      #expect(log.events.isEmpty && remembered != nil)
      remembered?.isSuspended = false
      log.wait(for: "queue released")
      #expect(log.events == ["ran", "queue released"])
    }
  }

  @Test("Q-7: nothing retains an operation, or the captures of its block, after the finish")
  func operationsAfterTheFinish() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      do {
        let dependency = PlainSubclass(atDeinit: { log.note("dependency") })
        let dependent = PlainSubclass(atDeinit: { log.note("dependent") })
        dependent.addDependency(dependency)
        let probe = DeinitProbe("capture", in: log)
        dependent.completionBlock = { probe.touch() }
        queue.addOperations([dependent, dependency], waitUntilFinished: true)
        let captured = DeinitProbe("block capture", in: log)
        queue.addOperation { captured.touch() }
      }
      log.wait(forCount: 4)
      #expect(Set(log.events) == ["dependency", "dependent", "capture", "block capture"])
    }
  }

  @Test("DE-14: an operation retains its dependencies, even finished ones")
  func dependenciesAreRetained() {
    let log = EventLog<String>()
    do {
      let operation = Operation()
      do {
        let dependency = PlainSubclass(atDeinit: { log.note("dependency") })
        operation.addDependency(dependency)
        dependency.start()
      }
      #expect(operation.dependencies.count == 1 && log.events.isEmpty)
    }
    #expect(log.events == ["dependency"])
  }

  @Test(
    "DE-14: a dependent may be released before its dependency finishes", arguments: [1, 2, 20])
  func dependentsAreNotRetained(count: Int) {
    let log = EventLog<String>()
    let dependency = Operation()
    let kept = Operation()
    do {
      let dependents = (0..<count).map { _ in PlainSubclass(atDeinit: { log.note("freed") }) }
      for dependent in dependents { dependent.addDependency(dependency) }
      kept.addDependency(dependency)
    }
    #expect(log.events.count == count)
    dependency.start()
    #expect(kept.isReady)
  }

  @Test(
    "DE-14: an operation that never finishes does not collect released dependents",
    arguments: [10, 100])
  func goneDependentsAreForgotten(count: Int) {
    let log = EventLog<Int>()
    let dependency = Operation()
    let kept = (0..<count).map { index in
      let operation = BlockOperation { log.note(index) }
      operation.addDependency(dependency)
      for _ in 0..<1_000 { Operation().addDependency(dependency) }
      return operation
    }
    let places = dependency.rare?.moreDependents.capacity ?? EdgeBlock.maximumCapacity
    #expect(places < 5 * count + 100 && dependency.dependentsLocked.count <= places + 2)
    #expect((dependency.rare == nil) == (count < EdgeBlock.maximumCapacity))
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.addOperations(kept, waitUntilFinished: false)
    // Reading `operationCount` makes the queue process the operations. An operation that the queue
    // processed only after the dependency's finish would become ready before the operations that
    // the finish notifies.
    #expect(queue.operationCount == count)
    dependency.start()
    queue.waitUntilAllOperationsAreFinished()
    // The dependency has notified the operations that still exist, in the order in which they began
    // to depend on it.
    #expect(log.events == Array(0..<count))
  }

  @Test("DE-14: both may be released unfinished, in either order")
  func bothFreedUnfinished() {
    for _ in 0..<100 {
      let dependency = Operation()
      let dependents = (0..<5).map { _ in Operation() }
      for dependent in dependents { dependent.addDependency(dependency) }
    }
  }

  @Test("DE-15: an operation that is added while its graph is released runs")
  func broughtBackWhileReleased() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation { log.note("added before") }
      func makeRoot() -> Operation {
        let first = BlockOperation { log.note("brought back") }
        let second = PlainSubclass(atDeinit: { [weak first] in
          if let first { queue.addOperation(first) }
        })
        let middle = BlockOperation {}
        middle.addDependency(first)
        middle.addDependency(second)
        let root = BlockOperation {}
        root.addDependency(middle)
        return root
      }
      _ = makeRoot()
      #expect(queue.operationCount == 2)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events.sorted() == ["added before", "brought back"])
    }
  }

  @Test("DE-15: an operation that a deinit of the user releases releases its dependencies at once")
  func releaseInsideADeinit() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      func makeRoot() -> Operation {
        let shared = (0..<8).map { _ in PlainSubclass(atDeinit: { log.note("dependency") }) }
        let inner = BlockOperation {}
        for dependency in shared { inner.addDependency(dependency) }
        let held = Monitored<(inner: Operation?, shared: [Operation])>((inner, shared))
        let outer = PlainSubclass(atDeinit: {
          let inner = held.change { $0.inner.take() }
          _ = consume inner
          let shared = held.change { held in
            defer { held.shared = [] }
            return held.shared
          }
          _ = consume shared
          log.note("end of the deinit")
        })
        let root = BlockOperation {}
        root.addDependency(outer)
        return root
      }
      _ = makeRoot()
      #expect(log.events == Array(repeating: "dependency", count: 8) + ["end of the deinit"])
    }
  }

  @Test(
    "F-15, DE-15: releasing a chain whose closures capture dependencies needs no stack",
    arguments: [0, 1, 2])
  func droppingAChainWhoseWorkHoldsIt(kind: Int) async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      var newest: Operation = Operation()
      weak let oldest = newest
      for _ in 0..<Effort.scaled(100_000) {
        let next: Operation
        switch kind {
        case 0: next = BlockOperation { [newest] in newest.cancel() }
        case 1: next = InvocationOperation { [newest] in newest.cancel() }
        default:
          let block = BlockOperation {}
          block.addExecutionBlock { [newest] in newest.cancel() }
          next = block
        }
        next.addDependency(newest)
        newest = next
      }
      #expect(oldest != nil)
      newest = Operation()
      #expect(oldest == nil)
    }
  }

  @Test("F-15, DE-15: dropping a chain of 1,000,000 operations needs no stack")
  func droppingAChain() async throws {
    let count = Effort.scaled(1_000_000)
    let log = EventLog<String>()
    let last = Monitored<Operation?>(nil)
    try await onOwnThread {
      var newest: Operation = PlainSubclass(atDeinit: { log.note("oldest") })
      for index in 1..<count {
        let next: Operation
        if index == count / 2 {
          next = PlainSubclass(atDeinit: { log.note("middle") })
        } else {
          next = BlockOperation()
        }
        next.addDependency(newest)
        newest = next
      }
      last.change { $0 = newest }
    }
    try await onOwnThread(stackSize: 512 * 1024) {
      var chain = last.change { $0.take() }
      #expect(chain?.dependencies.count == 1 && log.events.isEmpty)
      chain = nil
      log.wait(forCount: 2)
    }
    #expect(log.events == ["middle", "oldest"])
  }

  @Test("DE-15: a chain of 100,000 runs and is released without growing the stack")
  func runningAChain() async throws {
    try await onOwnThread(stackSize: 512 * 1024) {
      let queue = OperationQueue()
      let log = EventLog<String>()
      let count = Monitored(0)
      let length = Effort.scaled(100_000)
      do {
        var chain: [Operation] = []
        for _ in 0..<length {
          let next = BlockOperation { count.change { $0 += 1 } }
          if let newest = chain.last { next.addDependency(newest) }
          chain.append(next)
        }
        let last = PlainSubclass(atDeinit: { log.note("released") })
        if let newest = chain.last { last.addDependency(newest) }
        queue.addOperations(chain + [last], waitUntilFinished: false)
      }
      queue.waitUntilAllOperationsAreFinished()
      log.wait(for: "released")
      #expect(count.value == length)
    }
  }

  @Test("H-11: a deinit on a worker may use the queue that ran the operation")
  func deinitUsesTheQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<String>()
      queue.addOperation(
        PlainSubclass(atDeinit: {
          queue.addOperation { log.note("added by a deinit, \(queue.operationCount)") }
        }))
      log.wait(forCount: 1)
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}
