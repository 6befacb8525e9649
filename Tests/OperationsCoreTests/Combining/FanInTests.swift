// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Operations that continue with results, in queues", .timeLimit(.minutes(5)))
struct FanInTests {
  private struct WorkError: Error, Equatable {}
  /// A value that records when it is released.
  private struct Value: Sendable { let probe: DeinitProbe }

  @Test("then(on:) adds the operation that it makes, also after the first one has finished")
  func thenOn() async throws {
    let (first, second) = (OperationQueue(name: "first"), OperationQueue(name: "second"))
    let number = first.addOperation(name: "number") { 20 }
    let next = number.then(on: second, name: "next") { ($0 + 1, OperationQueue.current) }
    let (value, current) = try await next.value
    #expect(value == 21 && current == second && next.name == "next")
    let late = number.then(on: second) { $0 * 2 }
    #expect(try await late.value == 40)
  }

  @Test("Values of several types, of synchronous and asynchronous operations, arrive in order")
  func severalTypes() async throws {
    let queue = OperationQueue()
    let number = queue.addOperation(name: "number") { 20 }
    let text = queue.addAsyncOperation(name: "text") { "a" }
    let flag = AsyncOperation { true }
    let all = queue.addAsyncOperation(name: "all", after: number, text, flag) { "\($0)\($1)\($2)" }
    let one = AsyncOperation(after: number) { $0 + 1 }
    queue.addOperations([one, flag])
    #expect(try await all.value == "20atrue" && all.name == "all")
    #expect(try await one.value == 21)
  }

  @Test("The values of an array arrive in its order; an empty array is an empty array")
  func array() async throws {
    let queue = OperationQueue()
    let numbers = (0..<50).map { number in queue.addAsyncOperation { number } }
    let sum = queue.addAsyncOperation(name: "sum", after: numbers) { $0 }
    #expect(try await sum.value == Array(0..<50))
    let none: [ResultOperation<Int>] = []
    let empty = queue.addAsyncOperation(name: "none", after: none) { $0.count }
    #expect(try await empty.value == 0)
  }

  @Test("DE-19: a failure of one operation cancels the operation that needs its value")
  func failure() async throws {
    let queue = OperationQueue()
    let number = queue.addOperation(name: "number") { 20 }
    let failing = queue.addOperation(name: "failing") { () throws -> Int in throw WorkError() }
    let sum = queue.addAsyncOperation(name: "sum", after: number, failing) { $0 + $1 }
    await sum.waitUntilFinished()
    let error = try #require(sum.error as? OperationDependencyError)
    #expect(sum.isCancelled && error.origin.id == failing.id && error.underlyingError is WorkError)
  }

  @Test("If a dependency is removed, the operation waits for the value nevertheless")
  func removedDependency() async throws {
    let (queue, gate) = (OperationQueue(), AsyncGate())
    let first = queue.addAsyncOperation { () -> Int in
      await gate.pass()
      return 1
    }
    let next = first.then { $0 + 1 }
    let all = AsyncOperation(after: [first, first]) { $0 }
    for operation in [next, all] as [Operation] { operation.removeDependency(first) }
    queue.addOperations([next, all])
    gate.waitForArrivals(1)
    gate.open()
    #expect(try await next.value == 2)
    #expect(try await all.value == [1, 1])
  }

  @Test(
    "An operation that continues with a value releases the value and its operation when it has finished"
  )
  func release() async throws {
    let (queue, log) = (OperationQueue(), EventLog<String>())
    let last = { () -> AsyncOperation<Int> in
      let first = queue.addAsyncOperation { Value(probe: DeinitProbe("first", in: log)) }
      let second = first.then(on: queue) { _ in Value(probe: DeinitProbe("second", in: log)) }
      let third = queue.addAsyncOperation(after: [first, second]) { $0.count }
      return third
    }()
    #expect(try await last.value == 2)
    await queue.waitUntilAllOperationsAreFinished()
    log.wait(forCount: 2)
    #expect(Set(log.events) == ["first", "second"] && last.dependencies.isEmpty)
  }

  @Test("A group releases its dependencies and its members when it has finished")
  func groupReleases() async throws {
    let (queue, log) = (OperationQueue(), EventLog<String>())
    let group = { () -> GroupOperation in
      let before = queue.addAsyncOperation { Value(probe: DeinitProbe("before", in: log)) }
      let group = GroupOperation([AsyncOperation { Value(probe: DeinitProbe("member", in: log)) }])
      group.addDependency(before)
      queue.addOperation(group)
      return group
    }()
    try await group.value
    await queue.waitUntilAllOperationsAreFinished()
    log.wait(forCount: 2)
    #expect(group.dependencies.isEmpty)
  }
}

@Suite("Groups that fail fast", .timeLimit(.minutes(5)))
struct FailFastTests {
  private struct WorkError: Error, Equatable {}

  @Test("The first failure cancels the other members and rejects new ones; the group fails with it")
  func failsFast() async throws {
    let gate = AsyncGate()
    let failing = AsyncOperation<Void> {
      await gate.pass()
      throw WorkError()
    }
    let endless = AsyncOperation { try await Task.sleep(for: .seconds(3_600)) }
    let waiting = BlockOperation { Issue.record("It ran") }
    waiting.addDependency(endless)
    let group = GroupOperation([failing, endless, waiting])
    #expect(!group.failsFast)
    group.failsFast = true
    OperationQueue().addOperation(group)
    gate.waitForArrivals(1)
    gate.open()
    await group.waitUntilFinished()
    let error = try #require(group.error as? GroupOperationError)
    #expect(error.errors.count == 1 && error.errors.first is WorkError && !group.isCancelled)
    for member in [endless, waiting] as [Operation] {
      #expect(member.isCancelled)
      #expect((member.error as? OperationDependencyError)?.dependency.id == failing.id)
    }
    #expect(!group.addOperation(BlockOperation {}))
  }

  @Test("No member starts after the first failure, also in a group of width 1")
  func noLaterStart() async throws {
    for _ in 0..<Effort.scaled(2_000) {
      let later = (0..<3).map { _ in BlockOperation { Issue.record("It ran") } }
      let group = GroupOperation([ResultOperation<Void> { throw WorkError() }] + later)
      group.maxConcurrentOperationCount = 1
      group.failsFast = true
      OperationQueue().addOperation(group)
      await group.waitUntilFinished()
      #expect(later.allSatisfy { $0.isCancelled })
    }
  }

  @Test("A member that is added while another one fails is cancelled or rejected")
  func race() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    for _ in 0..<Effort.scaled(2_000) {
      let group = GroupOperation()
      group.failsFast = true
      let go = Gate()
      group.addOperation(ResultOperation<Void> { throw WorkError() })
      group.addOperation(BlockOperation { _ = go.waitUntilOpen() })
      let late = AsyncOperation { try await Task.sleep(for: .seconds(3_600)) }
      let delay = Int.random(in: 0..<2_000, using: &random)
      OperationQueue().addOperation(group)
      for _ in 0..<delay where group.isFinished { break }
      let isAdded = group.addOperation(late)
      go.open()
      await group.waitUntilFinished()
      #expect(late.isCancelled == isAdded && group.error is GroupOperationError)
    }
  }
}
