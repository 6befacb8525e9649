// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore
import TestSupport
import Testing

/// Defects of Foundation: barriers that hang or start too early, and missing features of the main
/// queue.
extension FoundationDefectTests {
  @Test("F-6, BA-1: a cancelled or waiting operation may be added behind a barrier")
  func addingBehindABarrier() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let gate = Gate()
      let log = EventLog<String>()
      queue.addOperation { gate.pass() }
      gate.waitForArrivals(1)
      queue.addBarrierBlock { log.note("barrier") }
      let cancelled = PlainSubclass { log.note("cancelled") }
      cancelled.cancel()
      queue.addOperation(cancelled)
      let conditional = FlaggedOperation { log.note("conditional") }
      queue.addOperation(conditional)
      conditional.allow()
      #expect(queue.operationCount == 3 && log.events.isEmpty)
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["barrier", "conditional"])
      #expect(cancelled.isFinished)
    }
  }

  @Test("F-7, BA-2: a barrier in an empty queue runs on its underlying queue, and waits include it")
  func barrierOnAnUnderlyingQueue() async throws {
    try await onOwnThread {
      let key = DispatchSpecificKey<String>()
      let underlying = DispatchQueue(label: "underlying")
      underlying.setSpecific(key: key, value: "here")
      let queue = OperationQueue()
      queue.underlyingQueue = underlying
      let log = EventLog<String>()
      underlying.suspend()
      queue.addBarrierBlock {
        log.note(DispatchQueue.getSpecific(key: key) ?? "elsewhere")
        log.note(OperationQueue.current === queue ? "current" : "foreign")
      }
      #expect(log.events.isEmpty)
      underlying.resume()
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["here", "current"])
    }
  }

  @Test("F-7, F-18, BA-2, MQ-2: the main queue runs barriers itself, and can be cancelled")
  func mainQueueCancelsAndRunsBarriersInOwnProcess() async {
    // The test runs in a separate process, because all tests share the main queue.
    await #expect(processExitsWith: .success) { try await useMainQueue() }
  }

  @Test("F-14, BA-4: as many barriers as operations are added and run in linear time")
  func barriersAreLinear() async throws {
    try await expectLinear { count, meter in
      let queue = OperationQueue()
      queue.isSuspended = true
      for _ in 0..<count {
        queue.addOperation { meter.lap() }
        queue.addBarrierBlock { meter.lap() }
      }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

private func useMainQueue() async throws {
  try await onOwnThread {
    let main = OperationQueue.main
    let log = EventLog<String>()
    let gate = Gate()
    main.addOperation {
      gate.pass()
      log.note("running")
    }
    gate.waitForArrivals(1)
    let waiting = (0..<3).map { _ in BlockOperation { log.note("cancelled") } }
    main.addOperations(waiting, waitUntilFinished: false)
    main.cancelAllOperations()
    #expect(waiting.allSatisfy { $0.isCancelled })
    gate.open()
    main.waitUntilAllOperationsAreFinished()
    main.addBarrierBlock {
      dispatchPrecondition(condition: .onQueue(.main))
      log.note(OperationQueue.current === main ? "barrier" : "foreign")
    }
    main.waitUntilAllOperationsAreFinished()
    #expect(log.events == ["running", "barrier"])
  }
}
