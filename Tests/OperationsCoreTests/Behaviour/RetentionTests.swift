// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

@Suite("References that keep an operation alive")
struct RetentionTests {
  @Test(
    "DE-14, Q-7: its queue keeps a dependent alive until it has run")
  func queuedDependent() async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let queue = OperationQueue()
      let dependency = Operation()
      do {
        let dependent = PlainSubclass(
          work: { log.note("ran") }, atDeinit: { log.note("released") })
        dependent.addDependency(dependency)
        queue.addOperation(dependent)
      }
      #expect(queue.operationCount == 1 && log.events.isEmpty)
      dependency.start()
      log.wait(for: "released")
      #expect(log.events == ["ran", "released"])
    }
  }

  @Test(
    "Q-7: after the finish, nothing retains an operation, its blocks or its queue",
    arguments: [false, true], [false, true])
  func afterTheFinish(isOnDispatch: Bool, isSuspendedFirst: Bool) async throws {
    final class NotedQueue: OperationQueue, @unchecked Sendable {
      let probe: DeinitProbe
      init(_ probe: DeinitProbe) {
        self.probe = probe
        super.init()
      }
    }
    try await onOwnThread {
      let log = EventLog<String>()
      do {
        let queue = NotedQueue(DeinitProbe("queue", in: log))
        if isOnDispatch { queue.underlyingQueue = DispatchQueue(label: "own") }
        queue.isSuspended = isSuspendedFirst
        let captured = DeinitProbe("capture", in: log)
        let operation = PlainSubclass(
          work: { captured.touch() }, atDeinit: { log.note("operation") })
        let other = DeinitProbe("completion", in: log)
        operation.completionBlock = { other.touch() }
        queue.addOperation(operation)
        queue.addOperation { captured.touch() }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      }
      log.wait(forCount: 4)
      #expect(Set(log.events) == ["queue", "operation", "capture", "completion"])
    }
  }
}
