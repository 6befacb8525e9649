// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@Suite("A child process after fork()")
struct ForkedProcessTests {
  private static let fixture = FixtureProgram.shared

  @Test(
    "H-14: a child that needs a thread of the pool ends with a message",
    arguments: [
      "addBlock", "addOperation", "addOperations", "addBarrier", "waitForOperation", "waitForQueue",
      "startAsynchronous", "startSeveralBlocks", "resume", "cancel", "addBlockToSuspended",
      "addOperationToSuspended", "addBlockToFull", "addOperationToFull", "awaitOperation",
      "awaitQueue", "resumeFull", "widen", "widenSuspended", "cancelInFull", "cancelInSuspended",
      "cancelAllInFull", "prioritize", "prioritizeInFull", "makeReady", "makeReadyInFull",
      "makeReadyByFinish",
    ])
  func useInOwnProcess(use: String) throws {
    let (_, output) = try Self.fixture.run(
      "workers", "fork", use, environment: ["SWIFT_BACKTRACE=enable=no"])
    // The child was ended by the signal of a trap, and not by its alarm.
    #expect(output.contains("the child was ended by a trap"), "\(output)")
    #expect(output.contains("Operations: a child process tried to "), "\(output)")
  }

  @Test(
    "H-14: a child that finishes an operation ends with a message if that needs a thread",
    arguments: [
      ("startWithCompletionBlock", "run a completion block"),
      ("failWithDependent", "cancel a dependent of an operation that has failed"),
      ("returnFromOperation", "return from an operation that called fork()"),
      ("returnOnDispatch", "return from an operation that called fork()"),
    ])
  func consequenceInOwnProcess(use: String, action: String) throws {
    let (_, output) = try Self.fixture.run(
      "workers", "fork", use, environment: ["SWIFT_BACKTRACE=enable=no"])
    #expect(output.contains("the child was ended by a trap"), "\(output)")
    #expect(output.contains("Operations: a child process tried to \(action)."), "\(output)")
  }

  @Test("H-14: a child ends with a message if it would wait for a thread of its parent")
  func waitForParentInOwnProcess() throws {
    try consequenceInOwnProcess(
      use: "waitForStartedByHand",
      action: "wait for an operation that none of its threads can finish")
  }

  @Test(
    "H-14: a child ends with a message after 5 s if another thread held a lock during fork()",
    .enabled(if: Effort.percent >= 100, "The child waits for 5 s"),
    arguments: ["useLockedState", "useBriefLock"])
  func heldLockInOwnProcess(use: String) throws {
    try consequenceInOwnProcess(
      use: use, action: "use data that another thread was using during fork()")
  }

  @Test(
    "H-14: a child starts operations by hand, and uses queues if none was made before the fork",
    arguments: ["byHand", "byHandOnThread", "early"])
  func allowedInOwnProcess(use: String) throws {
    let (_, output) = try Self.fixture.run("workers", "fork", use)
    #expect(output.contains("the child succeeded"), "\(output)")
  }
}
