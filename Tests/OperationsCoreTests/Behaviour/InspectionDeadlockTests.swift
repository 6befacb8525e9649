// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Finding operations that wait inside for each other")
struct InspectionDeadlockTests {
  /// Blocks the calling thread until each of these operations, in its own code, waits for another
  /// operation.
  private func awaitInsideWaits(_ operations: [Operation]) {
    #expect(
      poll(for: .seconds(Patience.seconds)) {
        operations.allSatisfy { !$0.awaitedInside.isEmpty }
      })
  }

  private func makeQueue(width: Int) -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    return queue
  }

  private func slots(_ deadlocks: [OperationDeadlock]) -> [[OperationDeadlock.SlotHolder]] {
    deadlocks.compactMap { if case .slots(let holders) = $0 { holders } else { nil } }
  }

  private func cycles(_ deadlocks: [OperationDeadlock]) -> [[OperationReference]] {
    deadlocks.compactMap { if case .cycle(let members) = $0 { members } else { nil } }
  }

  private func references(_ operations: [Operation]) -> [OperationReference] {
    operations.map(OperationReference.init)
  }

  /// For each awaited operation, adds an operation that waits for it in its own code. Returns the
  /// added operations when all of them wait.
  private func waitInside(for awaited: [Operation], in queue: OperationQueue) -> [Operation] {
    let holders = awaited.map { one in BlockOperation { one.waitUntilFinished() } }
    queue.addOperations(holders, waitUntilFinished: false)
    awaitInsideWaits(holders)
    return holders
  }

  @Test("DE-8: all slots are used by operations that wait for an operation without a slot")
  func fullQueue() async throws {
    try await onOwnThread {
      let queue = makeQueue(width: 2)
      let direct = Operation()
      let last = Operation()
      let first = Operation()
      last.addDependency(first)
      let holders = waitInside(for: [direct, last], in: queue)
      #expect(slots(queue.deadlocks()).isEmpty, "the awaited operations are not in a queue yet")
      queue.addOperations([direct, last, first], waitUntilFinished: false)
      let found = queue.deadlocks()
      #expect(found.count == 1 && cycles(found).isEmpty)
      let reported = slots(found).first ?? []
      #expect(reported.map(\.operation) == references(holders))
      #expect(reported.map(\.chain) == [references([direct]), references([last, first])])
      #expect(reported.allSatisfy { $0.queue.id == queue.id && $0.neededQueue.id == queue.id })
      #expect(Set(found[0].operations) == Set(references(holders + [direct, last, first])))
      // A greater width of the queue ends the deadlock.
      queue.maxConcurrentOperationCount = 3
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.deadlocks().isEmpty)
      #expect(holders.allSatisfy { $0.awaitedInside.isEmpty })
    }
  }

  @Test("DE-8: if one holder of a slot does not wait, there is no deadlock")
  func oneHolderRuns() async throws {
    try await onOwnThread {
      let queue = makeQueue(width: 2)
      let gate = Gate()
      queue.addOperation { gate.pass() }
      let awaited = Operation()
      _ = waitInside(for: [awaited], in: queue)
      queue.addOperation(awaited)
      #expect(queue.deadlocks().isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("DE-8: waiting inside for an operation of another, suspended queue is no deadlock")
  func otherQueue() async throws {
    try await onOwnThread {
      let queue = makeQueue(width: 1)
      let other = makeQueue(width: 1)
      other.isSuspended = true
      let awaited = Operation()
      other.addOperation(awaited)
      _ = waitInside(for: [awaited], in: queue)
      queue.addOperation {}
      #expect(queue.deadlocks().isEmpty && other.deadlocks().isEmpty)
      other.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("DE-8: two full queues whose operations wait for each other are one deadlock")
  func twoQueues() async throws {
    try await onOwnThread {
      let queues = [makeQueue(width: 1), makeQueue(width: 1)]
      let awaited = [Operation(), Operation()]
      let first = waitInside(for: [awaited[1]], in: queues[0])
      let second = waitInside(for: [awaited[0]], in: queues[1])
      queues[0].addOperation(awaited[0])
      queues[1].addOperation(awaited[1])
      for queue in queues {
        let reported = slots(queue.deadlocks())
        #expect(reported.count == 1)
        #expect(Set(reported.joined().map(\.operation)) == Set(references(first + second)))
        #expect(reported.joined().allSatisfy { $0.queue != $0.neededQueue })
      }
      queues[1].maxConcurrentOperationCount = 2
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }
  }

  @Test("DE-8: a queue of default width has no limited slots")
  func defaultWidth() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let awaited = BlockOperation { gate.pass() }
      _ = waitInside(for: [awaited, awaited, awaited], in: queue)
      queue.addOperation(awaited)
      #expect(queue.deadlocks().isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test(
    "DE-8: an operation started by hand inside another one keeps that one's slot while it waits")
  func nested() async throws {
    try await onOwnThread {
      let queue = makeQueue(width: 1)
      let awaited = Operation()
      let inner = PlainSubclass { awaited.waitUntilFinished() }
      let outer = PlainSubclass { inner.start() }
      queue.addOperation(outer)
      awaitInsideWaits([inner, outer])
      queue.addOperation(awaited)
      #expect(slots(queue.deadlocks()).map { $0.map(\.operation) } == [references([outer])])
      queue.maxConcurrentOperationCount = 2
      queue.waitUntilAllOperationsAreFinished()
      #expect(inner.awaitedInside.isEmpty && outer.awaitedInside.isEmpty)
    }
  }

  @Test("DE-8: waiting inside for a dependent, or for a queue that waits in turn, is a cycle")
  func cyclesOfInsideWaits() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let other = OperationQueue()
      let dependent = Operation()
      let waiting = waitInside(for: [dependent], in: queue)
      dependent.addDependency(waiting[0])
      queue.addOperation(dependent)
      #expect(cycles(queue.deadlocks()).map(Set.init) == [Set(references(waiting + [dependent]))])
      dependent.removeDependency(waiting[0])
      queue.waitUntilAllOperationsAreFinished()

      let gate = Gate()
      let one = BlockOperation {
        gate.pass()
        other.waitUntilAllOperationsAreFinished()
      }
      queue.addOperation(one)
      let last = Operation()
      last.addDependency(one)
      other.addOperation(last)
      gate.open()
      awaitInsideWaits([one])
      #expect(cycles(queue.deadlocks()).map(Set.init) == [Set(references([one, last]))])
      #expect(cycles(other.deadlocks()).map(Set.init) == [Set(references([one, last]))])
      last.cancel()
      for queue in [queue, other] { queue.waitUntilAllOperationsAreFinished() }
    }
  }

  @Test("DE-8: an operation before a barrier that depends on one behind it waits for itself")
  func barrier() async throws {
    try await onOwnThread {
      let queue = makeQueue(width: 1)
      let ahead = Operation()
      let behind = Operation()
      ahead.addDependency(behind)
      queue.addOperation(ahead)
      queue.addBarrierBlock {}
      #expect(cycles(queue.deadlocks()).isEmpty)
      queue.addOperation(behind)
      let reported = cycles(queue.deadlocks())
      #expect(reported.count == 1 && reported[0].count == 3)
      #expect(reported.first.map { $0.map(\.id) }?.contains(ahead.id) == true)
      #expect(reported.first.map { $0.map(\.id) }?.contains(behind.id) == true)
      ahead.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: waiting for an operation that is not in a queue is reported until it is added")
  func neverAdded() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let forgotten = Operation()
      forgotten.name = "forgotten"
      let dependents = [Operation(), Operation()]
      for dependent in dependents { dependent.addDependency(forgotten) }
      let last = Operation()
      last.addDependency(dependents[0])
      queue.addOperations(dependents + [last], waitUntilFinished: false)
      let inside = waitInside(for: [forgotten], in: queue)
      let found = queue.deadlocks()
      #expect(found.count == 1)
      guard case .neverAdded(let operation, let className, let waiting) = found.first else {
        Issue.record("Reported: \(found)")
        return
      }
      #expect(operation.id == forgotten.id && operation.name == "forgotten")
      #expect(className == "Operation" && Set(waiting) == Set(references(dependents + inside)))
      #expect(found[0].description.contains("“forgotten”, which is not in a queue"))
      queue.addOperation(forgotten)
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: a result retains no operation and no queue, and exposes none")
  func namesOnly() async throws {
    try await onOwnThread {
      weak var member: Operation?
      weak var queue: OperationQueue?
      var found: [OperationDeadlock] = []
      do {
        let first = BlockOperation {}
        let second = BlockOperation {}
        let own = OperationQueue()
        (member, queue) = (first, own)
        first.addDependency(second)
        second.addDependency(first)
        own.addOperations([first, second], waitUntilFinished: false)
        found = own.deadlocks()
        second.removeDependency(first)
        own.waitUntilAllOperationsAreFinished()
        #expect(found.first?.operations.map(\.id).contains(first.id) == true)
      }
      #expect(poll(for: .seconds(Patience.seconds)) { member == nil && queue == nil })
      #expect(found.count == 1 && found[0].description.hasPrefix("2 operations wait"))
    }
  }

  @Test("DE-8: a group that one of its members depends on is a cycle")
  func groups() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let group = GroupOperation()
      let member = Operation()
      member.addDependency(group)
      group.addOperation(member)
      queue.addOperation(group)
      #expect(poll(for: .seconds(Patience.seconds)) { !group.awaitedInside.isEmpty })
      #expect(cycles(queue.deadlocks()).map(Set.init) == [Set(references([group, member]))])
      member.cancel()
      group.waitUntilFinished()
      #expect(group.awaitedInside.isEmpty && queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: a group with a member that waits inside for the group's dependent is a cycle")
  func waitInsideAGroup() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let dependent = Operation()
      let member = BlockOperation { dependent.waitUntilFinished() }
      let group = GroupOperation([member])
      dependent.addDependency(group)
      queue.addOperations([group, dependent], waitUntilFinished: false)
      awaitInsideWaits([group, member])
      let expected = Set(references([group, member, dependent]))
      #expect(cycles(queue.deadlocks()).map(Set.init) == [expected])
      dependent.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(group.awaitedInside.isEmpty && queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: a group and a member that waits inside for that group are a cycle")
  func waitForOwnGroupInOwnProcess() async {
    // The test runs in a separate process, because a member of a group waits for its own group, and
    // this wait never ends.
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue()
      let group = GroupOperation()
      let member = BlockOperation { group.waitUntilFinished() }
      group.addOperation(member)
      queue.addOperation(group)
      let expected = Set([group, member].map(OperationReference.init))
      let isFound = poll(for: .seconds(Patience.seconds)) {
        guard case .cycle(let members)? = queue.deadlocks().first else { return false }
        return Set(members) == expected
      }
      exit(isFound ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test(
    "DE-8: groups that contain each other are a cycle, although none was cancelled",
    arguments: [2, 5])
  func circularGroups(count: Int) async throws {
    try await onOwnThread {
      let groups = (0..<count).map { _ in GroupOperation() }
      for (index, group) in groups.enumerated() { groups[(index + 1) % count].addOperation(group) }
      let dependent = Operation()
      dependent.addDependency(groups[0])
      let queue = makeQueue(width: 1)
      queue.addOperation(dependent)
      let found = queue.deadlocks()
      #expect(found.count == 1)
      #expect(cycles(found).map(Set.init) == [Set(references(groups))])
      groups[0].cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(
        poll(for: .seconds(Patience.seconds)) { groups.allSatisfy(\.isFinished) })
      #expect(queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: an operation waits for the one that it performs: its attempt, or its limited work")
  func performed() async throws {
    try await onOwnThread {
      for isRetry in [true, false] {
        let queue = OperationQueue()
        let outer = Monitored<[Operation]>([])
        let members = Monitored<[Operation]>([])
        let make: @Sendable () -> AsyncOperation<Void> = {
          let member = Operation()
          for operation in outer.value { member.addDependency(operation) }
          members.change { $0 = [member] }
          return GroupOperation([member])
        }
        let operation: Operation =
          isRetry
          ? RetryOperation(maximumAttempts: 1) { _ in make() }
          : TimeoutOperation(after: .seconds(3_600)) { make() }
        outer.change { $0 = [operation] }
        queue.addOperation(operation)
        members.wait(for: "the work to be made") { !$0.isEmpty }
        #expect(poll(for: .seconds(Patience.seconds)) { cycles(queue.deadlocks()).count == 1 })
        let reported = cycles(queue.deadlocks()).first ?? []
        #expect(reported.count == 3 && reported.contains(OperationReference(operation)))
        #expect(reported.contains(OperationReference(members.value[0])))
        members.value[0].cancel()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.awaitedInside.isEmpty)
        outer.change { $0 = [] }
      }
    }
  }

  @Test("DE-8: waiting inside for operations that continue is not a deadlock")
  func noFalseAlarms() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let outer = makeQueue(width: 2)
      let inner = makeQueue(width: 2)
      let isDone = Flag()
      onThreads(2) { thread in
        if thread == 0 {
          while !isDone.isRaised { #expect((outer.deadlocks() + inner.deadlocks()).isEmpty) }
          return
        }
        var random = SeededGenerator(seed: seed)
        var recent: [Operation] = []
        for _ in 0..<Effort.scaled(2_000) {
          let awaited = PlainSubclass()
          if let before = recent.randomElement(using: &random) { awaited.addDependency(before) }
          recent = recent.suffix(10) + [awaited]
          inner.addOperation(awaited)
          if Int.random(in: 0..<20, using: &random) == 0 { inner.addBarrierBlock {} }
          outer.addOperation { awaited.waitUntilFinished() }
        }
        for queue in [outer, inner] { queue.waitUntilAllOperationsAreFinished() }
        isDone.raise()
      }
    }
  }
}
