// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("MI-1: misuse, where a handler has been set", .serialized)
struct MisuseTests {
  /// The mistakes that `body` makes with operations or queues that are named `name`.
  private func mistakes(naming name: String, _ body: () -> Void) -> [Misuse.Kind] {
    let log = EventLog<Misuse>()
    let before = Misuse.handler
    Misuse.handler = { log.note($0) }
    defer { Misuse.handler = before }
    body()
    return log.events.filter { $0.description.contains(name) }.map(\.kind)
  }

  private func named(_ operation: Operation, _ name: String = "misused") -> Operation {
    operation.name = name
    return operation
  }

  @Test("SA-4: start of one that is not ready; it may be started later")
  func notReady() {
    let dependency = Operation()
    let operation = named(Operation(), "not ready")
    operation.addDependency(dependency)
    #expect(mistakes(naming: "not ready") { operation.start() } == [.receiverNotReady])
    #expect(!operation.isFinished && !operation.isExecuting)
    dependency.start()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("SA-3, SA-5: start of one that executes: main runs once")
  func executing() async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = named(PlainSubclass { gate.pass() }, "executing")
      startThread { operation.start() }
      gate.waitForArrivals(1)
      #expect(mistakes(naming: "executing") { operation.start() } == [.receiverAlreadyExecuting])
      gate.open()
      operation.waitUntilFinished()
      #expect(gate.arrivedCount == 1)
    }
  }

  @Test("SA-6: start by hand of one that is in a queue")
  func startOfAQueuedOne() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations = [named(Operation(), "queued"), named(BlockOperation {}, "queued")]
      queue.addOperations(operations, waitUntilFinished: false)
      let kinds = mistakes(naming: "queued") { for operation in operations { operation.start() } }
      #expect(kinds == [.startOfEnqueuedOperation, .startOfEnqueuedOperation])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q-3, SA-6: adding one that is queued, executes or has finished")
  func adding() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let other = OperationQueue()
      queue.isSuspended = true
      let gate = Gate()
      let finished = named(Operation(), "unfit")
      finished.start()
      let queued = named(Operation(), "unfit")
      queue.addOperation(queued)
      let executing = named(PlainSubclass { gate.pass() }, "unfit")
      startThread { executing.start() }
      gate.waitForArrivals(1)
      let kinds = mistakes(naming: "unfit") {
        for operation in [finished, queued, executing] { other.addOperation(operation) }
      }
      #expect(kinds == [.cannotEnqueue, .cannotEnqueue, .cannotEnqueue])
      #expect(other.operationCount == 0)
      gate.open()
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      executing.waitUntilFinished()
    }
  }

  @Test("Q-3: a batch with one that may not be added is refused whole, and can be added elsewhere")
  func batch() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let unfit = named(Operation(), "in batch")
      unfit.start()
      let fit = (0..<3).map { _ in BlockOperation {} }
      let twice = named(BlockOperation {}, "in batch")
      let kinds = mistakes(naming: "in batch") {
        queue.addOperations(fit + [unfit], waitUntilFinished: true)
        queue.addOperations([twice, fit[0], twice], waitUntilFinished: true)
      }
      #expect(kinds == [.cannotEnqueue, .cannotEnqueue])
      #expect(queue.operationCount == 0 && fit.allSatisfy { !$0.isFinished })
      OperationQueue().addOperations(fit + [twice], waitUntilFinished: true)
    }
  }

  @Test("DE-7: an operation that is to depend on itself stays as it is")
  func selfDependency() {
    let operation = named(Operation(), "selfish")
    #expect(
      mistakes(naming: "selfish") { operation.addDependency(operation) } == [.selfDependency])
    #expect(operation.dependencies.isEmpty && operation.isReady)
  }

  @Test("MX-3: a width below −1 is refused and changes nothing")
  func negativeWidth() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 3
    #expect(mistakes(naming: "-73") { queue.maxConcurrentOperationCount = -73 } == [.negativeWidth])
    #expect(queue.maxConcurrentOperationCount == 3)
  }

  @Test("BL-3: a block added to one that executes or has finished is refused")
  func lateBlock() async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      operation.name = "late block"
      startThread { operation.start() }
      gate.waitForArrivals(1)
      let add = { operation.addExecutionBlock { Issue.record("A late block ran") } }
      #expect(mistakes(naming: "late block", add) == [.addsBlockAfterStart])
      gate.open()
      operation.waitUntilFinished()
      #expect(mistakes(naming: "late block", add) == [.addsBlockAfterStart])
    }
  }

  @Test("WA-2, Q-12: an operation that waits for itself or for its queue")
  func waitingForItself() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.name = "self-waiting"
      let operation = SelfWaitingOperation(queue: queue)
      operation.name = "self-waiting"
      let kinds = mistakes(naming: "self-waiting") {
        queue.addOperations([operation], waitUntilFinished: true)
      }
      #expect(kinds == [.waitOnSelf, .waitInsideOwnQueue])
    }
  }
}

private final class SelfWaitingOperation: Operation, @unchecked Sendable {
  private let queue: OperationQueue

  init(queue: OperationQueue) {
    self.queue = queue
    super.init()
  }

  override func main() {
    waitUntilFinished()
    queue.waitUntilAllOperationsAreFinished()
  }
}

@Suite("MI-1: misuse without a handler prints what is wrong and traps")
struct MisuseTrapTests {
  private func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test("DE-7: self-dependency traps with a message")
  func selfDependency() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let operation = Operation()
      operation.addDependency(operation)
    }
    #expect(message(result).contains("NSInvalidArgumentException"))
    #expect(message(result).contains("cannot depend on itself"))
  }

  @Test("SA-4: start of one that is not ready traps with a message")
  func notReady() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let operation = Operation()
      operation.addDependency(Operation())
      operation.start()
    }
    #expect(message(result).contains("not yet ready to execute"))
  }

  @Test("Q-3: adding an operation twice traps with a message")
  func addedTwice() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operation = Operation()
      queue.addOperation(operation)
      queue.addOperation(operation)
    }
    #expect(message(result).contains("already in a queue"))
  }

  @Test("MX-3: a width below −1 traps with a message")
  func negativeWidth() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      OperationQueue().maxConcurrentOperationCount = -2
    }
    #expect(message(result).contains("-2 is below -1"))
  }
}
