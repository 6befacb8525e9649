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

@Suite("Finding operations that wait for an exclusion, or for a group, for ever")
struct InspectionExclusionTests {
  private let pair = MutualExclusion(name: "pair", limit: 2)

  private func makeQueue(width: Int) -> OperationQueue {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = width
    return queue
  }

  /// Blocks the calling thread until each of these operations, in its own code, waits for another
  /// operation.
  private func awaitInsideWaits(_ operations: [Operation]) {
    let deadline = ContinuousClock.now + .seconds(Patience.seconds)
    while !operations.allSatisfy({ !$0.awaitedInside.isEmpty }), .now < deadline {
      sched_yield()
    }
    #expect(operations.allSatisfy { !$0.awaitedInside.isEmpty })
  }

  /// Adds an operation that the queue chooses but cannot start, because the mutual exclusion that
  /// the operation needs is in use.
  private func addRefused(_ operation: Operation, to queue: OperationQueue) {
    queue.addOperation(operation)
    let deadline = ContinuousClock.now + .seconds(Patience.seconds)
    while operation.state != .waiting, .now < deadline { sched_yield() }
    #expect(operation.state == .waiting)
  }

  @Test("DE-8: all holders of an exclusion of limit 2 wait for an operation that needs it")
  func allHoldersWait() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let queue = makeQueue(width: 4)
      let refused = BlockOperation {}
      let between = BlockOperation {}
      between.addDependency(refused)
      let holders = [refused, between].map { one in BlockOperation { one.waitUntilFinished() } }
      for operation in holders + [refused] { operation.exclusions = [pair] }
      queue.addOperations(holders, waitUntilFinished: false)
      awaitInsideWaits(holders)
      addRefused(refused, to: queue)
      queue.addOperation(between)
      let found = queue.deadlocks()
      #expect(found.count == 1, "\(found)")
      guard case .cycle(let members) = found.first else {
        Issue.record("no cycle: \(found)")
        return refused.cancel()
      }
      // The cycle contains the waiting operation and one of the two operations that hold the mutual
      // exclusion that it needs.
      #expect(members.contains { $0.id == refused.id })
      #expect(Set(members.map(\.id)).intersection(holders.map(\.id)).count == 1)
      refused.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: if one holder of the exclusion does not wait, there is no deadlock")
  func oneHolderRuns() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let queue = makeQueue(width: 4)
      let gate = Gate()
      let refused = BlockOperation {}
      let waiting = BlockOperation { refused.waitUntilFinished() }
      let running = BlockOperation { gate.pass() }
      for operation in [waiting, running, refused] { operation.exclusions = [pair] }
      queue.addOperations([waiting, running], waitUntilFinished: false)
      awaitInsideWaits([waiting])
      gate.waitForArrivals(1)
      addRefused(refused, to: queue)
      #expect(queue.deadlocks().isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("DE-8: slots are used by operations that wait for one behind an exclusion of limit 2")
  func slotsBehindExclusion() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let full = makeQueue(width: 1)
      let queue = makeQueue(width: 4)
      let needed = BlockOperation {}
      let refused = BlockOperation {}
      let holders = (0..<2).map { _ in BlockOperation { needed.waitUntilFinished() } }
      for operation in holders + [refused] { operation.exclusions = [pair] }
      queue.addOperations(holders, waitUntilFinished: false)
      awaitInsideWaits(holders)
      addRefused(refused, to: queue)
      let outer = BlockOperation { refused.waitUntilFinished() }
      full.addOperation(outer)
      awaitInsideWaits([outer])
      full.addOperation(needed)
      let found = full.deadlocks()
      guard found.count == 1, case .slots(let slots) = found[0] else {
        Issue.record("\(found)")
        return needed.cancel()
      }
      #expect(slots.map(\.operation.id) == [outer.id])
      #expect(slots.first?.chain.first?.id == refused.id)
      #expect(slots.first?.chain.last?.id == needed.id)
      full.maxConcurrentOperationCount = 2
      for queue in [full, queue] { queue.waitUntilAllOperationsAreFinished() }
    }
  }

  @Test("DE-8: the holder of a slot that a group needs waits inside for a member of the group")
  func memberOfUnstartedGroup() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let queue = makeQueue(width: 1)
      let member = BlockOperation {}
      let group = GroupOperation([member])
      #expect(OperationQueue().deadlocks().isEmpty)
      let outer = BlockOperation { member.waitUntilFinished() }
      queue.addOperation(outer)
      awaitInsideWaits([outer])
      #expect(queue.deadlocks().isEmpty, "the group may be started")
      queue.addOperation(group)
      let found = queue.deadlocks()
      #expect(found.count == 1, "\(found)")
      if case .slots(let slots) = found.first {
        #expect(slots.map(\.operation.id) == [outer.id])
        #expect(slots.first?.chain.map(\.id) == [member.id, group.id])
      } else {
        Issue.record("\(found)")
      }
      queue.maxConcurrentOperationCount = 2
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.deadlocks().isEmpty)
    }
  }

  @Test("DE-8: a group that was cancelled before it started waits for a member that does not end")
  func cancelledGroup() async throws {
    try await onOwnThread(within: .seconds(60)) { [self] in
      let queue = makeQueue(width: 2)
      let dependent = BlockOperation {}
      let member = WaitingStarter(dependent)
      let group = GroupOperation([member])
      dependent.addDependency(group)
      group.cancel()
      queue.addOperations([group, dependent], waitUntilFinished: false)
      awaitInsideWaits([member, group])
      let found = queue.deadlocks()
      #expect(
        found.count == 1
          && Set(found[0].operations.map(\.id)) == [dependent.id, group.id, member.id])
      dependent.cancel()
      queue.waitUntilAllOperationsAreFinished()
      #expect(group.isFinished && group.awaitedInside.isEmpty)
    }
  }
}

/// An operation that waits in its `start()` for another operation, even if it is cancelled.
private final class WaitingStarter: Operation, @unchecked Sendable {
  private let awaited: Operation

  init(_ awaited: Operation) { self.awaited = awaited }

  override func start() {
    awaited.waitUntilFinished()
    super.start()
  }
}
