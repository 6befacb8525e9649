// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import Testing

@Suite("When a group is complete")
struct GroupStateTests {
  private struct MemberError: Error {}

  @Test("An empty group has nothing to wait for, and nobody can join it afterwards")
  func empty() {
    var state = GroupState()
    #expect(state.drain() == true && state.isClosed)
    #expect(state.join() == false)
    #expect(state.drain() == true, "Asked again")
  }

  @Test("Members that finish before the group waits do not complete it")
  func early() {
    var state = GroupState()
    #expect(state.join() == true && state.leave(nil) == false)
    #expect(!state.isClosed && state.join() == true)
    #expect(state.drain() == false)
    #expect(state.leave(nil) == true && state.isClosed)
  }

  @Test("Who is added by a member that has not finished is waited for")
  func addedByAMember() {
    var state = GroupState()
    #expect(state.join() == true && state.drain() == false)
    #expect(state.join() == true)
    #expect(state.leave(nil) == false)
    #expect(state.leave(nil) == true)
    #expect(state.join() == false)
  }

  @Test("After cancelling nobody joins, and those who are there are waited for")
  func cancelled() {
    var state = GroupState()
    #expect(state.join() == true)
    #expect(state.isLeftWithMembers)
    #expect(state.cancel() == true && state.cancel() == false, "It happens once")
    #expect(!state.isLeftWithMembers)
    #expect(state.join() == false && state.drain() == false)
    #expect(state.leave(MemberError()) == true)
    #expect(state.errors.count == 1)
  }
}
