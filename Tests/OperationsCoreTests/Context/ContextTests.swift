// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite(
  "The context of the code that creates or adds an operation", .serialized, .oneAtATime,
  .onOwnThread, .contextCaptured, .timeLimit(.minutes(5)))
struct ContextTests {
  private let queue = OperationQueue()
  private let log = EventLog<String>()

  private func note(_ what: String = "work") {
    log.note("\(what): \(TestContext.current ?? "none")")
  }

  private func within<Result>(_ text: String, _ body: () throws -> Result) rethrows -> Result {
    try TestContext.$current.withValue(text, operation: body)
  }

  private class Subclass: Operation, @unchecked Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    override func main() { body() }
  }

  private final class Asynchronous: Subclass, @unchecked Sendable {
    private let hasEnded = Monitored(false)
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { hasEnded.value }
    override func start() {
      Task {
        main()
        willChangeValue(forKey: "isFinished")
        hasEnded.change { $0 = true }
        didChangeValue(forKey: "isFinished")
      }
    }
  }

  @Test("The context of the code that adds a block is current in the block")
  func block() async {
    within("a") { queue.addOperation { note() } }
    queue.addOperation { note() }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(Set(log.events) == ["work: a", "work: none"])
  }

  @Test("The context is current in the work of every kind of operation")
  func kinds() async {
    let note: @Sendable () -> Void = { self.note() }
    within("a") {
      let several = BlockOperation(block: note)
      several.addExecutionBlock(note)
      several.addExecutionBlock(note)
      queue.addOperation(several)
      queue.addOperation(Subclass(note))
      queue.addOperation(Asynchronous(note))
      queue.addOperation(InvocationOperation { note() })
      queue.addOperation(name: "result", note)
      queue.addOperations([BlockOperation(block: note), BlockOperation(block: note)])
      queue.addBarrierBlock(note)
      queue.addAsyncOperation {
        note()
        await Task.yield()
        note()
        await Task { note() }.value
      }
    }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == Array(repeating: "work: a", count: 13))
  }

  @Test("The context of the addition replaces the context of the creation, if there is one")
  func creationAndAddition() async {
    let (one, other, third) = within("created") {
      (BlockOperation { note("one") }, BlockOperation { note("other") }, Subclass { note("third") })
    }
    queue.addOperation(one)
    within("added") {
      queue.addOperation(other)
      queue.addOperations([third])
    }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(Set(log.events) == ["one: created", "other: added", "third: added"])
  }

  @Test("An operation that an operation adds has the context of the adding operation")
  func nested() async {
    let other = OperationQueue()
    within("a") {
      queue.addOperation {
        note("outer")
        other.addAsyncOperation {
          note("inner")
          queue.addOperation { note("innermost") }
        }
      }
    }
    for queue in [queue, other, queue] { await queue.waitUntilAllOperationsAreFinished() }
    #expect(log.events == ["outer: a", "inner: a", "innermost: a"])
  }

  @Test("Members of a group, attempts, timed work and continuations have the context")
  func combinations() async throws {
    let group = within("a") {
      GroupOperation([BlockOperation { note("member") }, AsyncOperation { note("async member") }])
    }
    within("b") {
      group.addOperation(BlockOperation { note("later member") })
      queue.addOperation(group)
      queue.addOperation(
        RetryOperation(maximumAttempts: 1) { _ in AsyncOperation { note("attempt") } })
      queue.addOperation(
        TimeoutOperation(after: .seconds(100)) { ResultOperation { note("timed") } })
    }
    let first = queue.addAsyncOperation { note("first") }
    let second = within("c") { first.then(on: queue) { note("second") } }
    try await second.value
    await queue.waitUntilAllOperationsAreFinished()
    let expected: Set = [
      "member: a", "async member: a", "later member: b", "attempt: b", "timed: b", "first: none",
      "second: c",
    ]
    #expect(Set(log.events) == expected)
  }

  @Test("An operation that is started directly has the context in which it was created")
  func directStart() {
    let operation = within("a") { BlockOperation { note() } }
    operation.start()
    BlockOperation { note() }.start()
    within("b") { BlockOperation { note() }.start() }
    #expect(log.events == ["work: a", "work: none", "work: b"])
  }

  @Test("Work begins and ends once in its context, and work that never runs does not begin")
  func beginsAndEnds() async throws {
    TestContext.$log.withValue(log) {
      for (index, operation) in [
        BlockOperation { note() }, Subclass { note() }, AsyncOperation { note() },
      ].enumerated() {
        within("\(index)") { queue.addOperation(operation) }
        operation.waitUntilFinished()
      }
      queue.isSuspended = true
      let dropped = within("dropped") { BlockOperation { note() } }
      queue.addOperation(dropped)
      dropped.cancel()
      queue.isSuspended = false
    }
    await queue.waitUntilAllOperationsAreFinished()
    let expected = ["0", "1", "2"].flatMap {
      ["begin \($0)", "work: work of \($0)", "end work of \($0)"]
    }
    // The end of the work is noted before or after waiting threads continue.
    log.wait(forCount: expected.count)
    #expect(log.events.sorted() == expected.sorted())
  }

  @Test("An operation without a context stores nothing, and one with a context releases it")
  func storage() async {
    let plain = BlockOperation { note() }
    #expect(plain.extra.load(ordering: .relaxed).isNothing)
    let operation = within("a") { BlockOperation { note() } }
    #expect(operation.withRare { $0?.context } != nil)
    queue.addOperation(operation)
    await queue.waitUntilAllOperationsAreFinished()
    #expect(operation.withRare { $0?.context } == nil && operation.contextOfWork == nil)
  }

  @Test("A completion block has no context")
  func completionBlock() async {
    let gate = Gate()
    within("a") {
      let operation = BlockOperation {}
      operation.completionBlock = {
        note("completion")
        gate.open()
      }
      queue.addOperation(operation)
    }
    #expect(gate.waitUntilOpen())
    #expect(log.events == ["completion: none"])
  }

  @Test("Without a hook, operations have no context")
  func withoutHook() async {
    OperationContextHook.remove()
    within("a") { queue.addOperation { note() } }
    await queue.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["work: none"])
  }

  @Test("Race: work that is cancelled at its start ends as often as it begins")
  func cancellationRace() async {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    let log = log
    for _ in 0..<Effort.scaled(2_000) {
      let operations = TestContext.$log.withValue(log) {
        within("a") {
          [BlockOperation {}, Subclass {}, AsyncOperation { await Task.yield() }] as [Operation]
        }
      }
      queue.addOperations(operations)
      for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = random.next() }
      for operation in operations { operation.cancel() }
    }
    await queue.waitUntilAllOperationsAreFinished()
    let begun = log.events.count { $0 == "begin a" }
    log.wait(for: "every end") { $0.count { $0 == "end work of a" } == begun }
  }
}
