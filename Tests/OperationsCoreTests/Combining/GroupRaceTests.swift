// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("Races in and around groups", .oneAtATime)
struct GroupRaceTests {
  private struct MemberError: Error {}

  @Test("Adding races the finish: accepted members have run, refused ones have not")
  func addingRacesTheFinish() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let ran = Monitored(0)
        let group = GroupOperation([BlockOperation {}])
        let added = Monitored(0)
        onThreads(3) { thread in
          if thread == 0 {
            group.start()
            group.waitUntilFinished()
            // When the group has finished, all added operations have finished, and the group
            // accepts no further operations.
            return #expect(!group.addOperation(BlockOperation {}))
          }
          for _ in 0..<20 {
            let isAdded = group.addOperation(BlockOperation { ran.change { $0 += 1 } })
            if isAdded { added.change { $0 += 1 } }
          }
        }
        #expect(ran.value == added.value)
      }
    }
  }

  @Test("Cancelling one of the groups that contain each other ends all", arguments: [2, 5])
  func circularGroups(count: Int) async throws {
    try await onOwnThread {
      let groups = (0..<count).map { _ in GroupOperation() }
      for (index, group) in groups.enumerated() { groups[(index + 1) % count].addOperation(group) }
      let member = BlockOperation {}
      let outer = GroupOperation([member])
      groups[0].addOperation(outer)
      groups[count / 2].cancel()
      let operations = groups + [outer, member]
      #expect(poll(for: .seconds(Patience.seconds)) { operations.allSatisfy(\.isFinished) })
      #expect(operations.allSatisfy { $0.isCancelled })
    }
  }

  @Test("The end of a cancelled group runs no deinit of the group around it")
  func releaseOfOuterGroup() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      let isReleasedInside = Flag()
      let libraryReleases = Monitored(0)
      let rounds = Effort.scaled(100_000)
      for _ in 0..<rounds where !isReleasedInside.isRaised {
        let inner = GroupOperation()
        var outer: NotingGroup? = NotingGroup(around: inner, isReleasedInside, libraryReleases)
        outer?.cancel()
        for _ in 0..<Int.random(in: 0..<400, using: &random) where inner.isExecuting { break }
        outer = nil
        inner.waitUntilFinished()
      }
      #expect(!isReleasedInside.isRaised)
      // In the rounds that are not counted, the test released the outer group at another moment
      // than the end of the inner group.
      print("The library had the last reference in \(libraryReleases.value) of \(rounds) rounds")
    }
  }

  @Test("Errors are listed in the order in which members finish")
  func orderOfErrors() async throws {
    struct Numbered: Error { let number: Int }
    try await onOwnThread {
      for _ in 0..<Effort.scaled(500) {
        let group = GroupOperation()
        group.maxConcurrentOperationCount = 1
        for number in 0..<8 {
          group.addOperation(AsyncOperation { throw Numbered(number: number) })
        }
        group.start()
        group.waitUntilFinished()
        #expect(group.errors.compactMap { ($0 as? Numbered)?.number } == Array(0..<8))
      }
    }
  }

  @Test("CA-11: adding races cancelling: each added member is cancelled and finishes")
  func addingRacesCancelling() async throws {
    try await onOwnThread {
      for round in 0..<Effort.scaled(200) {
        let gate = AsyncGate()
        let group = GroupOperation()
        let members = Monitored<[Operation]>([])
        if round.isMultiple(of: 2) { group.start() }
        onThreads(3) { thread in
          if thread == 0 { return group.cancel() }
          for _ in 0..<10 {
            // If one of the group's operations were not cancelled, the group would never finish.
            let member = AsyncOperation { try await gate.passUnlessCancelled() }
            if group.addOperation(member) { members.change { $0.append(member) } }
          }
        }
        if !round.isMultiple(of: 2) { group.start() }
        group.waitUntilFinished()
        #expect(members.value.allSatisfy { $0.isFinished })
      }
    }
  }

  @Test("Members that fail at the same time lose none of their errors")
  func errorsRace() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(100) {
        let group = GroupOperation()
        for _ in 0..<40 { group.addOperation(AsyncOperation { throw MemberError() }) }
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(group.errors.count == 40)
        #expect((group.error as? GroupOperationError)?.errors.count == 40)
      }
    }
  }

  @Test("Cancelling races the start and the end: the group finishes once, after its members")
  func cancellingRacesStartAndEnd() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<Effort.scaled(400) {
        let members = (0..<3).map { _ in AsyncOperation { await Task.yield() } }
        let group = GroupOperation(members)
        let finishes = Monitored(0)
        let observation = group.observe(\.isFinished) { _, _ in
          finishes.change { $0 += 1 }
          #expect(members.allSatisfy { $0.isFinished })
        }
        let spins = Int.random(in: 0..<500, using: &random)
        onThreads(2) { thread in
          if thread == 0 { return group.start() }
          for _ in 0..<spins { _ = group.isExecuting }
          group.cancel()
        }
        group.waitUntilFinished()
        #expect(finishes.value == 1)
        observation.invalidate()
      }
    }
  }

  @Test("Members that add members race each other: the group waits for all of them")
  func membersAddMembers() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(50) {
        let count = Monitored(0)
        let group = GroupOperation()
        group.maxConcurrentOperationCount = 4
        @Sendable func add(_ depth: Int) {
          group.addOperation(
            AsyncOperation {
              count.change { $0 += 1 }
              guard depth < 6 else { return }
              for _ in 0..<2 { add(depth + 1) }
            })
        }
        add(0)
        OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(count.value == 127)
      }
    }
  }
}

/// A group operation that records whether a thread that executes its member deallocates the group,
/// and how often the library deallocates the group on another thread.
private final class NotingGroup: GroupOperation, @unchecked Sendable {
  private let member: Operation
  private let isReleasedInside: Flag
  private let libraryReleases: Monitored<Int>

  init(around member: Operation, _ isReleasedInside: Flag, _ libraryReleases: Monitored<Int>) {
    self.member = member
    self.isReleasedInside = isReleasedInside
    self.libraryReleases = libraryReleases
    super.init()
    addOperation(member)
  }

  deinit {
    if CurrentWork.isInside(member) { isReleasedInside.raise() }
    if CurrentWork.servedQueue === OperationQueue.completions.core {
      libraryReleases.change { $0 += 1 }
    }
  }
}
