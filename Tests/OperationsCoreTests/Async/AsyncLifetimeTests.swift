// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("The lifetimes of objects in asynchronous operations", .timeLimit(.minutes(5)))
struct AsyncLifetimeTests {
  private final class Probed: AsyncOperation<Int>, @unchecked Sendable {
    let probe: DeinitProbe

    init(probe: DeinitProbe, _ body: @escaping @Sendable () async throws -> Int) {
      self.probe = probe
      super.init(body)
    }
  }

  @Test(
    "H-5: the closure and its captures are released before waiters continue, run or not",
    arguments: [true, false])
  func closure(isCancelled: Bool) async throws {
    let log = EventLog<String>()
    let operation = make(in: log)
    let queue = OperationQueue()
    queue.isSuspended = true
    queue.addOperation(operation)
    if isCancelled { operation.cancel() }
    #expect(log.events.isEmpty)
    queue.isSuspended = false
    await operation.waitUntilFinished()
    #expect(log.events == ["closure released"])
  }

  @Test(
    "H-5: an awaited operation is released, started by hand or by a queue",
    arguments: [true, false])
  func operation(inQueue: Bool) async throws {
    let log = EventLog<String>()
    do {
      let operation = Probed(probe: DeinitProbe("operation released", in: log)) { 1 }
      if inQueue { OperationQueue().addOperation(operation) } else { operation.start() }
      #expect(try await operation.value == 1)
    }
    try await onOwnThread { _ = log.wait(for: "operation released") }
  }

  @Test("H-5: a closure that captures its operation is released after it has run or was discarded")
  func cycle() async throws {
    for isCancelled in [false, true] {
      let log = EventLog<String>()
      do {
        let itself = Monitored<Operation?>(nil)
        let operation = Probed(probe: DeinitProbe("operation released", in: log)) {
          itself.value?.isExecuting == true ? 1 : 0
        }
        itself.change { $0 = operation }
        if isCancelled { operation.cancel() }
        operation.start()
        await operation.waitUntilFinished()
      }
      try await onOwnThread { _ = log.wait(for: "operation released") }
    }
  }

  @Test("Q-7: released by its user, it runs, and its queue stays until it has finished")
  func letGoOf() async throws {
    let log = EventLog<String>()
    let gate = AsyncGate()
    do {
      let operation = Probed(probe: DeinitProbe("operation released", in: log)) {
        await gate.pass()
        log.note("ran")
        return 1
      }
      OperationQueue().addOperation(operation)
    }
    try await onOwnThread {
      gate.waitForArrivals(1)
      #expect(log.events.isEmpty)
      gate.open()
      log.wait(forCount: 2)
      #expect(log.events == ["ran", "operation released"])
    }
  }

  @Test("H-5: a closure that a subclass does not call is released at the finish")
  func closureThatIsNotCalled() async {
    final class Ignoring: AsyncOperation<Int>, @unchecked Sendable {
      override func run() async throws -> Int { 2 }
    }
    let log = EventLog<String>()
    let operation: Ignoring
    do {
      let probe = DeinitProbe("closure released", in: log)
      operation = Ignoring {
        probe.touch()
        return 1
      }
    }
    operation.start()
    await operation.waitUntilFinished()
    #expect(log.events == ["closure released"])
  }

  @Test("H-5: an operation that is never started is released with its closure")
  func neverStarted() {
    let log = EventLog<String>()
    do { _ = make(in: log) }
    #expect(log.events == ["closure released"])
  }

  @Test("H-11: a deinit of a captured object may call any method of the operation")
  func captureAsksTheOperation() async throws {
    for isCancelled in [false, true] {
      let log = EventLog<String>()
      let itself = Monitored<AsyncOperation<Int>?>(nil)
      let operation: AsyncOperation<Int>
      do {
        let asking = AtDeinit {
          itself.value?.name = "asked"
          log.note("\(itself.value?.name ?? "none")")
        }
        operation = AsyncOperation {
          asking.touch()
          return 1
        }
      }
      itself.change { $0 = operation }
      if isCancelled { operation.cancel() }
      operation.start()
      await operation.waitUntilFinished()
      #expect(log.events == ["asked"])
      itself.change { $0 = nil }
    }
  }

  private func make(in log: EventLog<String>) -> Operation {
    let probe = DeinitProbe("closure released", in: log)
    return AsyncOperation {
      probe.touch()
      return 1
    }
  }
}
