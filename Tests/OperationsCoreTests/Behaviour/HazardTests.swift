// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Hazards that the design avoids")
struct HazardTests {
  @Test("H-1, H-2, F-8: finishing under a lock calls no method of the dependents")
  func finishingUnderALock() async throws {
    try await onOwnThread {
      for _ in 0..<100 {
        let queue = OperationQueue()
        let first = FinishingUnderItsLock()
        let second = Suspicious(of: first)
        second.addDependency(first)
        queue.addOperation(second)
        first.finish()
        second.waitUntilFinished()
        #expect(second.callsUnderTheLock.value == 0)
      }
    }
  }

  @Test(
    "H-3: a chain of 30,000 runs, or is cancelled, without recursion", arguments: [true, false])
  func chain(isCancelled: Bool) async throws {
    let length = Effort.scaled(30_000)
    try await onOwnThread(stackSize: 512 * 1024) {
      let queue = OperationQueue()
      let runs = Monitored(0)
      let gate = Gate()
      var chain: [Operation] = [PlainSubclass { gate.pass() }]
      for index in 1..<length {
        let next = PlainSubclass { runs.change { $0 += 1 } }
        next.addDependency(chain[index - 1])
        chain.append(next)
      }
      queue.addOperations(chain, waitUntilFinished: false)
      gate.waitForArrivals(1)
      // The queue is suspended during the cancellation. Otherwise, it would start the next
      // operation before that operation is cancelled.
      queue.isSuspended = isCancelled
      if isCancelled { queue.cancelAllOperations() }
      queue.isSuspended = false
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(runs.value == (isCancelled ? 0 : length - 1) && chain.allSatisfy(\.isFinished))
    }
  }

  @Test("H-4: a non-recursive lock is enough if it is released before didChangeValue")
  func plainLock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operations = (0..<100).map { _ in PlainlyLockedOperation() }
      for (operation, next) in zip(operations, operations.dropFirst()) {
        next.addDependency(operation)
      }
      queue.addOperations(operations, waitUntilFinished: true)
      #expect(operations.allSatisfy(\.isFinished) && queue.operationCount == 0)
    }
  }

  @Test("H-7: another thread's announcement does not end a change that this thread has begun")
  func pairsOfTwoThreads() async throws {
    try await onOwnThread {
      let operation = Operation()
      operation.name = "old"
      let log = EventLog<String>()
      let observation = operation.observe(\.name, options: [.old, .new]) { _, change in
        log.note(
          "\(change.oldValue.map { $0 ?? "nil" } ?? "?") → \((change.newValue ?? nil) ?? "nil")")
      }
      operation.willChangeValue(forKey: "name")
      onThreads(1) { _ in operation.name = "other" }
      operation.didChangeValue(forKey: "name")
      #expect(log.events == ["old → other", "old → other"])
      withExtendedLifetime(observation) {}
    }
  }

  @Test("H-8: a subclass has mutable properties of its own, and blocks capture it")
  func mutableSubclass() async throws {
    // The test also proves that this code compiles with warnings as errors.
    final class Summing: Operation, @unchecked Sendable {
      var numbers: [Int]
      private(set) var sum = 0
      init(_ numbers: [Int]) {
        self.numbers = numbers
        super.init()
      }
      override func main() { sum = numbers.reduce(0, +) }
    }
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<Int>()
      let operation = Summing([1, 2])
      operation.numbers.append(3)
      operation.completionBlock = { log.note(operation.sum) }
      let reader = BlockOperation { log.note(operation.sum) }
      reader.addDependency(operation)
      queue.addOperations([operation, reader], waitUntilFinished: true)
      log.wait(forCount: 2)
      #expect(log.events == [6, 6])
    }
  }

  @Test("H-10, MX-10: threads that serve several queues know the queue of their operation")
  func currentQueueOfSharedThreads() async throws {
    try await onOwnThread {
      let queues = (0..<4).map { _ in OperationQueue() }
      let wrong = Monitored(0)
      let meeting = Gate()
      for index in 0..<Effort.scaled(400) {
        let queue = queues[index % queues.count]
        queue.addOperation {
          if OperationQueue.current !== queue { wrong.change { $0 += 1 } }
          // Each operation of the queue also starts another operation. The first operations block,
          // so that the pool replaces their threads.
          PlainSubclass { if OperationQueue.current !== queue { wrong.change { $0 += 1 } } }.start()
          if index < 16 { meeting.pass() }
          if OperationQueue.current !== queue { wrong.change { $0 += 1 } }
        }
      }
      meeting.waitForArrivals(16)
      meeting.open()
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      #expect(wrong.value == 0 && OperationQueue.current == nil)
    }
  }

  @Test("H-12: the announcing methods may be overridden; the base class calls the overrides")
  func overriddenAnnouncements() {
    final class Overhearing: Operation, @unchecked Sendable {
      let log = EventLog<String>()
      override func willChangeValue(forKey key: String) {
        log.note("will \(key)")
        super.willChangeValue(forKey: key)
      }
      override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        log.note("did \(key)")
      }
    }
    let ran = Overhearing()
    ran.start()
    #expect(
      ran.log.events == [
        "will isExecuting", "did isExecuting", "will isExecuting", "will isFinished",
        "did isExecuting", "did isFinished",
      ])
    let cancelled = Overhearing()
    cancelled.addDependency(ran)
    cancelled.cancel()
    #expect(
      cancelled.log.events == [
        "will dependencies", "did dependencies", "will isCancelled", "did isCancelled",
        "will isReady", "did isReady",
      ])
  }
}

/// An operation that finishes without having been started, and announces the finish while it holds
/// its lock.
private final class FinishingUnderItsLock: Operation, @unchecked Sendable {
  private let lock = RecursiveLock()
  private let holder = Monitored<pthread_t?>(nil)
  private let flag = Flag()

  override var isFinished: Bool { flag.isRaised }

  /// Whether the calling thread holds the lock.
  var isHeldHere: Bool { holder.value.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

  func finish() {
    lock.withLock {
      holder.change { $0 = pthread_self() }
      willChangeValue(forKey: "isFinished")
      flag.raise()
      didChangeValue(forKey: "isFinished")
      holder.change { $0 = nil }
    }
  }
}

/// An operation that counts how often the library calls it on a thread that holds another
/// operation's lock.
private final class Suspicious: Operation, @unchecked Sendable {
  private let other: FinishingUnderItsLock
  let callsUnderTheLock = Monitored(0)

  init(of other: FinishingUnderItsLock) {
    self.other = other
    super.init()
  }

  private func look() { if other.isHeldHere { callsUnderTheLock.change { $0 += 1 } } }

  override var isReady: Bool {
    look()
    return super.isReady
  }

  override var isCancelled: Bool {
    look()
    return super.isCancelled
  }

  override func willChangeValue(forKey key: String) {
    look()
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    look()
    super.didChangeValue(forKey: key)
  }

  override func main() { look() }
}

/// An operation that protects its state with a non-recursive lock.
private final class PlainlyLockedOperation: Operation, @unchecked Sendable {
  private let flags = Monitored((isExecuting: false, isFinished: false))

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { flags.value.isExecuting }
  override var isFinished: Bool { flags.value.isFinished }

  override func start() {
    set(["isExecuting"]) { $0.isExecuting = !self.isCancelled }
    startThread { [self] in
      set(["isExecuting", "isFinished"]) { $0 = (false, true) }
    }
  }

  private func set(
    _ keys: [String], _ change: (inout (isExecuting: Bool, isFinished: Bool)) -> Void
  ) {
    flags.change { flags in
      for key in keys { willChangeValue(forKey: key) }
      change(&flags)
    }
    for key in keys { didChangeValue(forKey: key) }
  }
}
