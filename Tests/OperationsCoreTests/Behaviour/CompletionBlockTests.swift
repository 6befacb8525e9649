// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The completion block, however the operation ends")
struct CompletionBlockTests {
  private static let kinds: [@Sendable () -> Operation] = [
    { Operation() }, { BlockOperation {} }, { PlainSubclass() }, { LockedAsynchronousOperation() },
  ]

  @Test(
    "CB-1: it runs once, after the finish: queued or by hand, completed or cancelled",
    arguments: kinds.indices, [true, false])
  func once(kind: Int, isQueued: Bool) async throws {
    try await onOwnThread {
      for isCancelled in [true, false] {
        let log = EventLog<[Bool]>()
        let operation = Self.kinds[kind]()
        operation.completionBlock = { [unowned operation] in
          log.note([operation.isFinished, operation.isCancelled])
        }
        if isQueued {
          let queue = OperationQueue()
          queue.isSuspended = true
          queue.addOperation(operation)
          if isCancelled { operation.cancel() }
          queue.isSuspended = false
        } else {
          if isCancelled { operation.cancel() }
          operation.start()
        }
        operation.waitUntilFinished()
        operation.start()
        log.wait(forCount: 1)
        waitForCompletionBlocksSoFar()
        #expect(log.events == [[true, isCancelled]])
      }
    }
  }

  @Test("CB-2: it is not run by the call that finishes the operation", arguments: kinds.indices)
  func notByTheFinishingCall(kind: Int) async throws {
    try await onOwnThread {
      let hasReturned = Gate()
      let isOver = Gate()
      let operation = Self.kinds[kind]()
      operation.completionBlock = {
        hasReturned.pass()
        isOver.open()
      }
      operation.start()
      hasReturned.open()
      isOver.pass()
    }
  }

  @Test("CB-3: a block that holds its operation leaks nothing")
  func cycle() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      do {
        let operation = PlainSubclass(atDeinit: { log.note("released") })
        operation.completionBlock = { _ = operation.isFinished }
        operation.start()
      }
      log.wait(for: "released")
    }
  }

  /// Returns when the completion blocks of all finished operations have begun. Completion blocks
  /// begin in order.
  private func waitForCompletionBlocksSoFar() {
    let isOver = Gate()
    let after = Operation()
    after.completionBlock = { isOver.open() }
    after.start()
    isOver.pass()
  }
}
