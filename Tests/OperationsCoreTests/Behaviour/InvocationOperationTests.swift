// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("IN-1: operations that call a function and keep its result")
struct InvocationOperationTests {
  private struct BodyError: Error, Equatable {
    let number: Int
  }

  @Test("IN-1: the result is nil before the end of the body, and then its return value")
  func value() async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = InvocationOperation {
        gate.pass()
        return "result"
      }
      try #expect(operation.result == nil)
      let queue = OperationQueue()
      queue.addOperation(operation)
      gate.waitForArrivals(1)
      try #expect(operation.result == nil)
      gate.open()
      operation.waitUntilFinished()
      try #expect(operation.result == "result")
      try #expect(operation.result == "result", "It may be asked for again")
    }
  }

  @Test("IN-1: the error of the body is thrown by each call of result")
  func error() throws {
    let operation = InvocationOperation<Int> { throw BodyError(number: 7) }
    try #expect(operation.result == nil)
    operation.start()
    #expect(operation.isFinished && !operation.isCancelled)
    for _ in 0..<2 {
      #expect(throws: BodyError(number: 7)) { try operation.result }
    }
  }

  @Test("IN-1, CA-7: cancelled before it ran, result is nil before the finish, and then throws")
  func cancelled() throws {
    let operation = InvocationOperation { Issue.record("The body ran") }
    operation.cancel()
    try #expect(operation.result == nil)
    operation.start()
    #expect(throws: InvocationOperationError.cancelled) { try operation.result }
  }

  @Test("IN-1: cancelled in a queue, result throws; cancelled while it ran, it has its result")
  func cancelledInAQueue() async throws {
    try await onOwnThread {
      let gate = Gate()
      let running = InvocationOperation {
        gate.pass()
        return 1
      }
      let waiting = InvocationOperation { 2 }
      waiting.addDependency(running)
      let queue = OperationQueue()
      queue.addOperations([running, waiting], waitUntilFinished: false)
      gate.waitForArrivals(1)
      queue.cancelAllOperations()
      gate.open()
      queue.waitUntilAllOperationsAreFinished()
      try #expect(running.result == 1)
      #expect(running.isCancelled)
      #expect(throws: InvocationOperationError.cancelled) { try waiting.result }
    }
  }

  @Test("IN-1: a body that returns nothing has no result, but its error is thrown")
  func void() throws {
    let operation = InvocationOperation {}
    try #expect(operation.result == nil)
    operation.start()
    #expect(throws: InvocationOperationError.voidResult) { try operation.result }
    let failing = InvocationOperation<Void> { throw BodyError(number: 1) }
    failing.start()
    #expect(throws: BodyError(number: 1)) { try failing.result }
  }

  @Test("IN-1: a nil optional is a result, and differs from a missing one")
  func optionalResult() throws {
    let operation = InvocationOperation<Int?> { nil }
    try #expect(operation.result == nil)
    operation.start()
    try #expect(operation.result == .some(nil))
  }

  @Test("IN-1: the errors describe in a sentence why there is no result")
  func descriptions() {
    #expect("\(InvocationOperationError.cancelled)".contains("cancelled before it ran"))
    #expect("\(InvocationOperationError.voidResult)".contains("returns nothing"))
  }

  @Test("OP-6: the body runs once, however often main and start are called")
  func onlyOnce() throws {
    let count = Monitored(0)
    let operation = InvocationOperation { count.change { $0 += 1 } }
    operation.start()
    operation.start()
    operation.main()
    #expect(count.value == 1)
  }

  @Test("IN-1: a subclass may do something around the body, and sees its result")
  func subclass() async throws {
    final class Doubling: InvocationOperation<Int>, @unchecked Sendable {
      let log = EventLog<String>()
      override func main() {
        log.note("before")
        super.main()
        log.note("after")
      }
    }
    try await onOwnThread {
      let operation = Doubling { 21 }
      OperationQueue().addOperations([operation], waitUntilFinished: true)
      #expect(operation.log.events == ["before", "after"])
      try #expect(operation.result == 21)
    }
  }

  @Test("IN-1: a subclass without super's main has no result")
  func subclassWithoutSuper() throws {
    final class Silent: InvocationOperation<Int>, @unchecked Sendable {
      override func main() {}
    }
    let operation = Silent { 1 }
    operation.start()
    try #expect(operation.result == nil)
  }

  @Test(
    "H-5: the body and its captures are released before waiters continue, run or not",
    arguments: [true, false])
  func release(isCancelled: Bool) async throws {
    try await onOwnThread {
      let log = EventLog<String>()
      let operation = make(in: log)
      let queue = OperationQueue()
      queue.isSuspended = true
      queue.addOperation(operation)
      if isCancelled { operation.cancel() }
      #expect(log.events.isEmpty)
      queue.isSuspended = false
      operation.waitUntilFinished()
      #expect(log.events == ["body released"])
    }
  }

  @Test("H-5: a body that captures its own operation is released after it has run")
  func cycle() async throws {
    final class Noted: InvocationOperation<Int>, @unchecked Sendable {
      let probe: DeinitProbe
      init(probe: DeinitProbe, _ body: @escaping @Sendable () throws -> Int) {
        self.probe = probe
        super.init(body)
      }
    }
    try await onOwnThread {
      let log = EventLog<String>()
      do {
        let itself = Monitored<Operation?>(nil)
        let operation = Noted(probe: DeinitProbe("operation released", in: log)) {
          itself.value?.isExecuting == true ? 1 : 0
        }
        itself.change { $0 = operation }
        operation.start()
        try #expect(operation.result == 1)
      }
      log.wait(for: "operation released")
    }
  }

  @Test("H-11: a deinit of an object in the body may call any method of the operation")
  func captureAsksTheOperation() async throws {
    try await onOwnThread {
      for isCancelled in [false, true] {
        let log = EventLog<String>()
        let itself = Monitored<InvocationOperation<Int>?>(nil)
        let operation: InvocationOperation<Int>
        do {
          let asking = AtDeinit {
            let operation = itself.value
            operation?.name = "asked"
            log.note("\(operation?.name ?? "none"), \((try? operation?.result) ?? -1)")
          }
          operation = InvocationOperation {
            asking.touch()
            return 1
          }
        }
        itself.change { $0 = operation }
        if isCancelled { operation.cancel() }
        operation.start()
        #expect(log.events == [isCancelled ? "asked, -1" : "asked, 1"], "it has finished")
        itself.change { $0 = nil }
      }
    }
  }

  @Test("OP-7: many threads may read the result while it is set")
  func readersRaceTheFinish() async throws {
    try await onOwnThread {
      for _ in 0..<Effort.scaled(200) {
        let operation = InvocationOperation { [1, 2, 3] }
        onThreads(3) { thread in
          if thread == 0 { return operation.start() }
          var seen: [Int]?
          while seen == nil { seen = try? operation.result }
          #expect(seen == [1, 2, 3])
        }
      }
    }
  }

  private func make(in log: EventLog<String>) -> Operation {
    let probe = DeinitProbe("body released", in: log)
    return InvocationOperation {
      probe.touch()
      return 1
    }
  }
}
