// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("cancelPendingOperations", .onOwnThread, .timeLimit(.minutes(5)))
struct PendingCancellationTests {
  @Test("An executing operation is not cancelled, and operations that wait or are ready never run")
  func executingOperationsContinue() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let gate = Gate()
    let log = EventLog<String>()
    let executing = BlockOperation { gate.pass() }
    let ready = BlockOperation { log.note("ready") }
    let waiting = PlainSubclass { log.note("waiting") }
    waiting.addDependency(ready)
    queue.addOperations([executing, ready, waiting])
    queue.addBarrierBlock { log.note("barrier") }
    gate.waitForArrivals(1)
    queue.cancelPendingOperations()
    #expect(!executing.isCancelled && ready.isCancelled && waiting.isCancelled)
    #expect(queue.operations == [executing, ready, waiting])
    let later = BlockOperation { log.note("later") }
    queue.addOperation(later)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["later"] && !later.isCancelled && !executing.isCancelled)
  }

  @Test("An executing barrier is not cancelled, and the operations behind it are")
  func executingBarrier() {
    let queue = OperationQueue()
    let gate = Gate()
    let log = EventLog<String>()
    queue.addBarrierBlock {
      gate.pass()
      log.note("barrier")
    }
    queue.addOperation { log.note("behind") }
    queue.addBarrierBlock { log.note("second barrier") }
    gate.waitForArrivals(1)
    queue.cancelPendingOperations()
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["barrier"])
  }

  @Test(
    "Nothing starts while an override of cancel takes its time, except operations of other threads")
  func slowOverride() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    let gate = Gate()
    let log = EventLog<String>()
    queue.addOperation { gate.pass() }
    queue.addOperation { gate.pass() }
    gate.waitForArrivals(2)
    let slow = SlowToCancel { log.note("slow ran") }
    let second = SlowToCancel { log.note("second ran") }
    queue.addOperations([slow, second])
    startThread { queue.cancelPendingOperations() }
    slow.arrived.waitForArrivals(1)
    // Both slots become free while the first of the two is being cancelled.
    gate.open()
    let later = BlockOperation { log.note("later") }
    queue.addOperation(later)
    later.waitUntilFinished()
    #expect(log.events == ["later"] && !second.isCancelled && !second.isFinished)
    slow.arrived.open()
    second.arrived.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["later"] && slow.isCancelled && second.isCancelled)
  }

  @Test("An operation whose cancel does not cancel runs afterwards")
  func overrideWithoutEffect() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let log = EventLog<String>()
    let stubborn = UncancellableOperation { log.note("ran") }
    queue.addOperation(stubborn)
    queue.cancelPendingOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["ran"] && !stubborn.isCancelled)
  }

  @Test("An operation that was chosen but not ready when it was about to start is cancelled too")
  func operationThatIsGivenBack() {
    let queue = OperationQueue()
    let log = EventLog<String>()
    let doubtful = DoubtfulOperation { log.note("ran") }
    queue.addOperation(doubtful)
    doubtful.gate.waitForArrivals(1)
    #expect(doubtful.state == .executing)
    queue.cancelPendingOperations()
    #expect(!doubtful.isCancelled)
    doubtful.gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(doubtful.isCancelled && log.events.isEmpty)
  }

  @Test("Observers see the cancellation of an observed operation")
  func observedOperation() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = BlockOperation {}
    let log = EventLog<Bool?>()
    let observation = operation.observe(\.isCancelled, options: [.new]) { _, change in
      log.note(change.newValue)
    }
    queue.addOperation(operation)
    queue.cancelPendingOperations()
    #expect(log.events == [true])
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    observation.invalidate()
  }

  @Test("The members of a group that has started are not cancelled")
  func startedGroup() {
    let queue = OperationQueue()
    let gate = Gate()
    let log = EventLog<String>()
    let first = BlockOperation { gate.pass() }
    let second = BlockOperation { log.note("member") }
    second.addDependency(first)
    let group = GroupOperation([first, second])
    let pending = GroupOperation([BlockOperation { log.note("pending") }])
    pending.addDependency(group)
    queue.addOperations([group, pending])
    gate.waitForArrivals(1)
    queue.cancelPendingOperations()
    #expect(!group.isCancelled && pending.isCancelled)
    gate.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["member"])
  }

  @Test("A collector records the queue as the cause")
  func cause() {
    let queue = OperationQueue()
    queue.isSuspended = true
    keepingRecords(of: [queue]) { _ in
      let operations = [BlockOperation {}, PlainSubclass {}]
      queue.addOperations(operations)
      queue.cancelPendingOperations()
      for operation in operations { #expect(operation.cancellationCause == .queue(queue.id)) }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("The counts of a queue stay consistent")
  func counts() {
    let queue = OperationQueue()
    queue.isSuspended = true
    for _ in 0..<100 { queue.addOperation {} }
    for _ in 0..<100 { queue.addOperation(PlainSubclass {}) }
    queue.cancelPendingOperations()
    let counts = queue.snapshot().counts
    #expect(counts.ready == 200 && counts.cancelling == 200 && counts.waiting == 0)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.snapshot().counts.cancelled == 200)
  }
}

/// An operation whose `cancel()` waits at a gate before it cancels.
private final class SlowToCancel: PlainSubclass, @unchecked Sendable {
  let arrived = Gate()

  override func cancel() {
    arrived.pass()
    super.cancel()
  }
}

/// An operation that cannot be cancelled.
private final class UncancellableOperation: PlainSubclass, @unchecked Sendable {
  override func cancel() {}
}

/// An operation whose `isReady` is `true` until its queue has chosen it. The last reading before the start waits at a
/// gate and is `false`, and later readings are `true`.
private final class DoubtfulOperation: PlainSubclass, @unchecked Sendable {
  let gate = Gate()

  override var isReady: Bool {
    guard state == .executing, gate.arrivedCount == 0 else { return super.isReady }
    gate.pass()
    didChangeValue(forKey: "isReady")
    return false
  }
}
