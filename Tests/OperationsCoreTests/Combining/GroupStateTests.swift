// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import Testing

@Suite("The completion of a group")
struct GroupStateTests {
  private struct MemberError: Error {}

  @Test("An empty group finishes at once, and later accepts no members")
  func empty() {
    var state = GroupState()
    #expect(state.drain() == true)
    #expect(state.join() == false)
    #expect(state.drain() == true, "Asked again")
  }

  @Test("Members that finish before the group waits do not complete it")
  func early() {
    var state = GroupState()
    #expect(state.join() == true && state.leave() == false)
    #expect(state.join() == true)
    #expect(state.drain() == false)
    #expect(state.leave() == true)
    #expect(state.join() == false)
  }

  @Test("The group waits for operations that an unfinished member has added")
  func addedByAMember() {
    var state = GroupState()
    #expect(state.join() == true && state.drain() == false)
    #expect(state.join() == true)
    #expect(state.leave() == false)
    #expect(state.leave() == true)
    #expect(state.join() == false)
  }

  @Test("After a cancellation, no member can join, and the group waits for its members")
  func cancelled() {
    var state = GroupState()
    #expect(state.join() == true)
    #expect(state.isLeftWithMembers)
    #expect(state.cancel() == true && state.cancel() == false, "It happens once")
    #expect(!state.isLeftWithMembers)
    #expect(state.join() == false && state.drain() == false)
    _ = state.note(.init(MemberError(), origin: OperationID(rawValue: 1)), nil)
    #expect(state.leave() == true)
    #expect(state.errors.count == 1)
  }

  @Test("A failure and the members that it cancels are one error, in either order of reports")
  func consequences() {
    struct Consequence: Error {}
    let (first, second) = (OperationID(rawValue: 1), OperationID(rawValue: 2))
    var state = GroupState()
    for _ in 0..<5 { _ = state.join() }
    _ = state.note(.init(Consequence(), origin: first, isConsequence: true), nil)
    _ = state.leave()
    _ = state.note(.init(Consequence(), origin: second, isConsequence: true), nil)
    _ = state.leave()
    _ = state.note(.init(MemberError(), origin: first), nil)
    _ = state.leave()
    _ = state.note(.init(Consequence(), origin: first, isConsequence: true), nil)
    _ = state.leave()
    _ = state.leave()
    #expect(state.errors.map { $0 is MemberError } == [true, false])
  }
}
