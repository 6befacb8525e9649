// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization
import TestSupport
import Testing

@testable import OperationsCore

@Suite("A task of higher priority that waits for an operation", .timeLimit(.minutes(5)))
struct PriorityEscalationTests {
  private let queue = OperationQueue()
  private let log = EventLog<String>()

  init() {
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
  }

  private func block(_ name: String, _ priority: Operation.QueuePriority = .normal) -> Operation {
    let operation = BlockOperation { log.note(name) }
    operation.queuePriority = priority
    return operation
  }

  /// Starts a task of a priority that waits for the operation, and returns when the operation has this
  /// priority.
  private func wait(
    for operation: Operation, at priority: TaskPriority, raised: Operation.QueuePriority?
  ) async throws -> Task<Void, Never> {
    let task = Task.detached(priority: priority) { _ = await operation.waitUntilFinished() }
    let expected = raised ?? operation.queuePriority
    try await onOwnThread {
      #expect(
        poll(for: .seconds(30)) {
          operation.hasRegisteredWaiters && isPlaced(operation, at: expected)
        })
    }
    return task
  }

  private func place(of operation: Operation) -> Operation.QueuePriority {
    Operation.QueuePriority(index: operation.status.load(ordering: .acquiring).priorityIndex)
  }

  /// Whether the operation has a priority, and the queue has taken note of it.
  private func isPlaced(_ operation: Operation, at priority: Operation.QueuePriority) -> Bool {
    // The queue reads its inbox, which the thread that changes a priority uses.
    queue.core.withScheduler { _, _ in }
    let status = operation.status.load(ordering: .acquiring)
    return status.priorityIndex == priority.index && !status.isHeldInQueue
  }

  /// Returns the priority of the current task when it is `priority`, or after a minute.
  ///
  /// The task of an operation may continue before the thread that raises the operation has escalated it.
  private static func priorityOfTask(raisedTo priority: TaskPriority) async -> TaskPriority {
    let deadline = ContinuousClock.now + .seconds(60)
    while Task.currentPriority != priority, ContinuousClock.now < deadline { await Task.yield() }
    return Task.currentPriority
  }

  private func finish(_ tasks: Task<Void, Never>...) async {
    queue.isSuspended = false
    for task in tasks { await task.value }
    await queue.waitUntilAllOperationsAreFinished()
  }

  @Test("PR-10: the awaited operation moves up among the ready operations")
  func order() async throws {
    let (first, second, awaited) = (block("first"), block("second"), block("awaited"))
    queue.addOperations([first, second, awaited])
    let task = try await wait(for: awaited, at: .high, raised: .high)
    #expect(awaited.queuePriority == .normal, "The property keeps the value that was set")
    await finish(task)
    #expect(log.events == ["awaited", "first", "second"])
  }

  @Test(
    "PR-10: each priority of a task has a place among the operations",
    arguments: [
      (TaskPriority(rawValue: 33), Operation.QueuePriority.veryHigh), (.high, .high),
      (.medium, .normal), (.low, .low), (.background, .veryLow),
    ])
  func mapping(task: TaskPriority, expected: Operation.QueuePriority) {
    #expect(Operation.QueuePriority(of: task) == expected)
  }

  @Test("PR-10: a task of lower priority changes nothing, and no wait lowers a priority")
  func neverLowers() async throws {
    let (first, awaited) = (block("first"), block("awaited", .high))
    queue.addOperations([first, awaited])
    let low = try await wait(for: awaited, at: .low, raised: .high)
    let high = try await wait(for: first, at: .high, raised: .high)
    high.cancel()
    await high.value
    #expect(place(of: first) == .high, "The end of a wait does not lower the priority")
    await finish(low)
    #expect(log.events == ["awaited", "first"])
  }

  @Test("PR-10: a priority that is set later counts if it is higher than that of the waiting task")
  func laterPriority() async throws {
    let awaited = block("awaited", .low)
    queue.addOperation(awaited)
    let task = try await wait(for: awaited, at: .high, raised: .high)
    awaited.queuePriority = .veryLow
    #expect(awaited.queuePriority == .veryLow && place(of: awaited) == .high)
    awaited.queuePriority = .veryHigh
    #expect(awaited.queuePriority == .veryHigh && place(of: awaited) == .veryHigh)
    await finish(task)
  }

  @Test("PR-10: an overridden priority counts if it is higher than that of the waiting task")
  func overridden() async throws {
    final class Modest: Operation, @unchecked Sendable {
      override var queuePriority: QueuePriority {
        get { .low }
        set {}
      }
    }
    let awaited = Modest()
    queue.addOperation(awaited)
    #expect(place(of: awaited) == .low)
    let task = try await wait(for: awaited, at: .high, raised: .high)
    awaited.didChangeValue(forKey: "queuePriority")
    #expect(place(of: awaited) == .high)
    await finish(task)
  }

  @Test("PR-10: the operations that the awaited operation depends on move up too")
  func dependencies() async throws {
    let (other, first, awaited) = (block("other"), block("first", .low), block("awaited", .low))
    awaited.addDependency(first)
    queue.addOperations([other, first, awaited])
    let task = try await wait(for: awaited, at: .high, raised: .high)
    // The dependencies are raised after the awaited operation.
    try await onOwnThread { #expect(poll(for: .seconds(30)) { isPlaced(first, at: .high) }) }
    await finish(task)
    #expect(log.events == ["first", "awaited", "other"])
  }

  @Test("PR-10: if the waiting task is escalated, the operation moves up")
  func escalatedWait() async throws {
    let (first, awaited) = (block("first"), block("awaited"))
    queue.addOperations([first, awaited])
    let task = try await wait(for: awaited, at: .low, raised: .normal)
    task.escalatePriority(to: .high)
    try await onOwnThread { #expect(poll(for: .seconds(30)) { isPlaced(awaited, at: .high) }) }
    await finish(task)
    #expect(log.events == ["awaited", "first"])
  }

  @Test("PR-10: the task of an awaited operation has the priority of the waiting task")
  func taskPriority() async throws {
    let gate = AsyncGate()
    let running = AsyncOperation {
      let before = Task.currentPriority
      await gate.pass()
      return (before, await Self.priorityOfTask(raisedTo: .high))
    }
    running.qualityOfService = .utility
    queue.isSuspended = false
    queue.addOperation(running)
    try await onOwnThread { gate.waitForArrivals(1) }
    let task = Task.detached(priority: .high) { try await running.value }
    try await onOwnThread {
      #expect(poll(for: .seconds(30)) { running.escalatedTaskPriority == .high })
    }
    gate.open()
    let (before, after) = try await task.value
    #expect(before == .low && after == .high)
  }

  @Test("PR-10: the task of an operation that was awaited before it started has that priority")
  func taskPriorityBeforeStart() async throws {
    let pending = AsyncOperation { await Self.priorityOfTask(raisedTo: .high) }
    pending.qualityOfService = .utility
    queue.addOperation(pending)
    let task = try await wait(for: pending, at: .high, raised: .high)
    await finish(task)
    #expect(try await pending.value == .high)
  }

  @Test("PR-10: the members of an awaited group, and the attempts of a retry, have that priority")
  func combined() async throws {
    let gate = AsyncGate()
    let member = AsyncOperation {
      await gate.pass()
      return await Self.priorityOfTask(raisedTo: .high)
    }
    let group = GroupOperation([member])
    group.qualityOfService = .utility
    let attempt = AsyncOperation {
      await gate.pass()
      return await Self.priorityOfTask(raisedTo: .high)
    }
    let retry = RetryOperation(maximumAttempts: 1) { _ in attempt }
    retry.qualityOfService = .utility
    queue.maxConcurrentOperationCount = 2
    queue.isSuspended = false
    queue.addOperations([group, retry])
    try await onOwnThread { gate.waitForArrivals(2) }
    let tasks = [
      Task.detached(priority: .high) { _ = try await group.value },
      Task.detached(priority: .high) { _ = try await retry.value },
    ]
    try await onOwnThread {
      #expect(
        poll(for: .seconds(30)) {
          member.escalatedTaskPriority == .high && attempt.escalatedTaskPriority == .high
        })
    }
    gate.open()
    for task in tasks { try await task.value }
    #expect(try await member.value == .high)
    #expect(try await retry.value == .high)
  }

  @Test("PR-10: race: operations that are awaited while they start finish, in every order")
  func race() async throws {
    var random = SeededGenerator(seed: SeededGenerator.announcedSeed())
    queue.isSuspended = false
    let priorities: [TaskPriority] = [.background, .low, .medium, .high]
    var operations: [Operation] = []
    for _ in 0..<Effort.scaled(1_000) {
      let operation = AsyncOperation { await Task.yield() }
      queue.addOperation(operation)
      let waits = (0..<3).map { _ in
        let priority = priorities.randomElement(using: &random) ?? .medium
        return Task.detached(priority: priority) { try await operation.value }
      }
      waits.randomElement(using: &random)?.escalatePriority(to: .high)
      operation.queuePriority = .low
      for wait in waits { try await wait.value }
      operations.append(operation)
    }
    try await expectPlaces(of: operations) { _ in .low }
  }

  @Test("PR-10: race: no priority is lost that is set while a task raises the operation")
  func raceWithPriority() async throws {
    let lowest: [Operation.QueuePriority] = [.veryLow, .low, .normal]
    let operations = (0..<Effort.scaled(1_000)).map { block("\($0)", lowest[$0 % 3]) }
    queue.addOperations(operations)
    try await onOwnThread {
      onThreads(3) { number in
        for (index, operation) in operations.enumerated() {
          if number == 0 {
            operation.queuePriority = .normal
            operation.queuePriority = Self.lastPriority(index)
          } else {
            operation.escalate(to: number == 1 ? .medium : .high)
          }
        }
      }
    }
    try await expectPlaces(of: operations, Self.lastPriority)
    await finish()
  }

  private static func lastPriority(_ index: Int) -> Operation.QueuePriority {
    index.isMultiple(of: 2) ? .veryHigh : .low
  }

  /// Expects that each operation gets the priority that was set last, or that of the waiting tasks that have
  /// raised it, whichever is higher. An operation that had the priority of a task already was not raised.
  private func expectPlaces(
    of operations: [Operation], _ last: @escaping @Sendable (Int) -> Operation.QueuePriority
  ) async throws {
    try await onOwnThread {
      for (index, operation) in operations.enumerated() {
        let base = last(index)
        // The library's own work may raise the operation later than the waits end.
        let isPlaced = poll(for: .seconds(30)) {
          let raised = operation.escalatedTaskPriority.map { Operation.QueuePriority(of: $0) }
          return place(of: operation) == base.orHigher(raised ?? base)
        }
        #expect(isPlaced && operation.queuePriority == base, "operation \(index)")
      }
    }
  }
}
