// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

// Each in a process of its own, because the handler is the process's.
@Suite("MI-1: an underlying queue that may not be set")
struct UnderlyingQueueMisuseTests {
  @Test("MX-9: setting it while the queue has operations is misuse and changes nothing")
  func whileBusy() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<Misuse.Kind>()
      Misuse.handler = { log.note($0.kind) }
      let queue = OperationQueue()
      let former = DispatchQueue(label: "former")
      queue.underlyingQueue = former
      queue.isSuspended = true
      queue.addOperation {}
      queue.underlyingQueue = DispatchQueue(label: "new")
      queue.underlyingQueue = nil
      #expect(log.events == [.setsUnderlyingQueueWhileBusy, .setsUnderlyingQueueWhileBusy])
      #expect(queue.underlyingQueue === former)
      for operation in queue.operations { operation.cancel() }
      queue.isSuspended = false
      log.note(.cannotEnqueue)
      try await onOwnThread { queue.waitUntilAllOperationsAreFinished() }
      queue.underlyingQueue = nil
      #expect(queue.underlyingQueue == nil && log.events.last == .cannotEnqueue)
    }
  }

  @Test("MX-9: the main dispatch queue is misuse, one that targets it is not")
  func mainQueue() async {
    await #expect(processExitsWith: .success) {
      let log = EventLog<Misuse.Kind>()
      Misuse.handler = { log.note($0.kind) }
      let queue = OperationQueue()
      queue.underlyingQueue = .main
      #expect(log.events == [.setsMainAsUnderlyingQueue] && queue.underlyingQueue == nil)
      queue.underlyingQueue = DispatchQueue(label: "targets main", target: .main)
      #expect(log.events.count == 1 && queue.underlyingQueue != nil)
    }
  }

  @Test("MX-9: without a handler it traps with a message")
  func traps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation {}
      queue.underlyingQueue = DispatchQueue(label: "new")
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("has operations that have not finished"))
  }
}
