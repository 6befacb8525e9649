// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import Operations
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Overriding the open members of Foundation")
struct OverridingTests {
  @Test("OP-8: every open member of an operation may be overridden and call super")
  func operationMembers() async throws {
    try await onOwnThread {
      let first = OverridingOperation()
      let second = OverridingOperation()
      second.addDependency(first)
      second.name = "second"
      second.qualityOfService = .utility
      second.threadPriority = 0.7
      let log = second.log
      second.completionBlock = { log.note("completion") }
      OperationQueue().addOperations([first, second], waitUntilFinished: true)
      log.wait(for: "completion")
      #expect(second.name == "second!" && second.description.contains("second!"))
      #expect(second.qualityOfService == .utility && second.threadPriority == 0.7)
      #expect(second.dependencies.isEmpty)
      second.removeDependency(first)
      #expect(log.events.filter { $0 != "completion" } == ["add", "wait", "remove"])
    }
  }

  @Test(
    "OP-8: an overridden completion block and overridden dependencies are not read by the queue")
  func unreadOverrides() async throws {
    try await onOwnThread {
      let operation = SecretiveOperation()
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(operation.isFinished && operation.log.events.isEmpty)
    }
  }

  @Test("OP-8: the blocks of a block operation may be overridden and call super")
  func blockMembers() {
    let operation = CountingBlockOperation()
    operation.addExecutionBlock {}
    operation.addExecutionBlock {}
    #expect(operation.executionBlocks.count == 2 && operation.added == 2)
  }

  @Test("Q-14: every open member of a queue may be overridden and call super")
  func queueMembers() async throws {
    try await onOwnThread {
      let queue = OverridingQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      queue.name = "q"
      queue.qualityOfService = .utility
      queue.underlyingQueue = DispatchQueue(label: "under")
      queue.addOperation {}
      #expect(queue.operationCount == 1 && queue.operations.count == 1)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.name == "q!" && queue.maxConcurrentOperationCount == 1)
      #expect(
        queue.log.events == [
          "width", "suspended true", "name", "qos", "underlying", "suspended false", "wait",
        ])
      #expect(OverridingQueue.main === OperationQueue.main && OverridingQueue.current == nil)
    }
  }
}

@Suite("Overriding the queue priority")
struct OverriddenPriorityTests {
  @Test("PR-9: an overridden priority decides the order, and is read on the adding thread")
  func readWhenAdded() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      let thread = ownThreadID()
      let urgent = PriorityOperation(.veryHigh) { log.note("urgent") }
      queue.addOperations([PriorityOperation(.low) { log.note("low") }], waitUntilFinished: false)
      queue.addOperation { log.note("normal") }
      queue.addOperation(urgent)
      #expect(urgent.readers.allSatisfy { $0 == thread } && !urgent.readers.isEmpty)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["urgent", "normal", "low"])
    }
  }

  @Test("PR-9: an announced change of an overridden priority moves the operation, also twice")
  func readWhenAnnounced() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      let moved = PriorityOperation(.veryLow) { log.note("moved") }
      queue.addOperation(moved)
      queue.addOperation { log.note("normal") }
      let other = PriorityOperation(.veryHigh) { log.note("other") }
      queue.addOperation(other)
      moved.answer = .high
      other.answer = .low
      other.answer = .veryLow
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["moved", "normal", "other"])
    }
  }

  @Test("PR-9: an override that calls super gets the value that was set")
  func derivedFromSuper() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operation = DemotedOperation()
    queue.addOperation(operation)
    operation.queuePriority = .high
    #expect(operation.queuePriority == .normal)
    operation.queuePriority = .veryHigh
    #expect(operation.queuePriority == .high)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("PR-9: an override may use the queue and the operation: no lock is held while it is read")
  func readUnderNoLock() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = CuriousOperation(queue)
      queue.addOperation(operation)
      operation.willChangeValue(forKey: "queuePriority")
      operation.didChangeValue(forKey: "queuePriority")
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.isFinished)
    }
  }

  @Test("PR-9: of announcements on several threads, the last value decides")
  func racingAnnouncements() async throws {
    try await onOwnThread {
      for _ in 0..<50 {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let order = EventLog<Int>()
        let operation = PriorityOperation(.normal) { order.note(1) }
        queue.addOperation(operation)
        queue.addOperation { order.note(0) }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for turn in 0..<100 {
            operation.answer = (turn + thread).isMultiple(of: 2) ? .veryLow : .high
          }
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == (operation.answer == .high ? [1, 0] : [0, 1]))
      }
    }
  }

  @Test("PR-9: if several threads set the priority, the last value decides")
  func racingSettings() async throws {
    try await onOwnThread {
      for _ in 0..<50 {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let order = EventLog<Int>()
        let operation = PlainOperation { order.note(1) }
        queue.addOperation(operation)
        queue.addOperation { order.note(0) }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          for turn in 0..<50 {
            operation.queuePriority = (turn + thread).isMultiple(of: 2) ? .veryLow : .high
          }
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == (operation.queuePriority == .high ? [1, 0] : [0, 1]))
      }
    }
  }
}

private func ownThreadID() -> UInt { UInt(pthread_self()) }

private final class OverridingOperation: Operation, @unchecked Sendable {
  let log = EventLog<String>()
  override var name: String? {
    get { super.name.map { "\($0)!" } }
    set { super.name = newValue }
  }
  override var queuePriority: QueuePriority {
    get { super.queuePriority }
    set { super.queuePriority = newValue }
  }
  override var qualityOfService: QualityOfService {
    get { super.qualityOfService }
    set { super.qualityOfService = newValue }
  }
  override var threadPriority: Double { didSet {} }
  override var completionBlock: (@Sendable () -> Void)? {
    get { super.completionBlock }
    set { super.completionBlock = newValue }
  }
  override var dependencies: [Operation] { [] }
  override func addDependency(_ operation: Operation) {
    log.note("add")
    super.addDependency(operation)
  }
  override func removeDependency(_ operation: Operation) {
    log.note("remove")
    super.removeDependency(operation)
  }
  override func waitUntilFinished() {
    log.note("wait")
    super.waitUntilFinished()
  }
}

private final class CountingBlockOperation: BlockOperation, @unchecked Sendable {
  private(set) var added = 0
  override var executionBlocks: [@Sendable () -> Void] { super.executionBlocks }
  override func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {
    added += 1
    super.addExecutionBlock(block)
  }
}

/// An operation that records each access to a property that the library must not read, because only
/// the library's users read it.
private final class SecretiveOperation: Operation, @unchecked Sendable {
  let log = EventLog<String>()
  override var completionBlock: (@Sendable () -> Void)? {
    get {
      log.note("completionBlock")
      return nil
    }
    set { super.completionBlock = newValue }
  }
  override var dependencies: [Operation] {
    log.note("dependencies")
    return []
  }
}

private final class PriorityOperation: Operation, @unchecked Sendable {
  private let state: Monitored<(answer: QueuePriority, readers: [UInt])>
  private let body: @Sendable () -> Void

  init(_ answer: QueuePriority, _ body: @escaping @Sendable () -> Void) {
    state = Monitored((answer, []))
    self.body = body
  }

  var readers: [UInt] { state.value.readers }
  var answer: QueuePriority {
    get { state.value.answer }
    set {
      willChangeValue(forKey: "queuePriority")
      state.change { $0.answer = newValue }
      didChangeValue(forKey: "queuePriority")
    }
  }
  override var queuePriority: QueuePriority {
    get {
      let thread = ownThreadID()
      state.change { $0.readers.append(thread) }
      return state.value.answer
    }
    set {}
  }
  override func main() { body() }
}

private final class PlainOperation: Operation, @unchecked Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  override func main() { body() }
}

/// An operation whose `queuePriority` returns a priority one level below the priority that was set.
private final class DemotedOperation: Operation, @unchecked Sendable {
  override var queuePriority: QueuePriority {
    get { QueuePriority(rawValue: super.queuePriority.rawValue - 4) ?? .normal }
    set { super.queuePriority = newValue }
  }
}

private final class CuriousOperation: Operation, @unchecked Sendable {
  private let queue: OperationQueue
  init(_ queue: OperationQueue) { self.queue = queue }
  override var queuePriority: QueuePriority {
    get {
      _ = queue.operations.map(\.name)
      _ = (queue.operationCount, super.isReady, super.dependencies, super.name)
      return queue.isSuspended ? .high : .low
    }
    set {}
  }
}

private final class OverridingQueue: OperationQueue, @unchecked Sendable {
  let log = EventLog<String>()
  override class var main: OperationQueue { super.main }
  override class var current: OperationQueue? { super.current }
  override var name: String? {
    get { super.name.map { "\($0)!" } }
    set {
      log.note("name")
      super.name = newValue
    }
  }
  override var isSuspended: Bool {
    get { super.isSuspended }
    set {
      log.note("suspended \(newValue)")
      super.isSuspended = newValue
    }
  }
  override var maxConcurrentOperationCount: Int { didSet { log.note("width") } }
  override var qualityOfService: QualityOfService { didSet { log.note("qos") } }
  override var underlyingQueue: DispatchQueue? { didSet { log.note("underlying") } }
  override var operations: [Operation] { super.operations }
  override var operationCount: Int { super.operationCount }
  override func waitUntilAllOperationsAreFinished() {
    log.note("wait")
    super.waitUntilAllOperationsAreFinished()
  }
}
