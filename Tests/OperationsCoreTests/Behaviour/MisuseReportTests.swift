// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("MI-1: how misuse is reported")
struct MisuseReportTests {
  /// Returns a message without the numbers of operations and queues, because these numbers differ
  /// from run to run.
  private func withoutNumbers(_ message: String) -> String {
    message.replacing(/#[0-9]+/, with: "#")
  }

  @Test(
    "MI-1: each caught mistake is reported with its message",
    arguments: OperationMisuse.Kind.allCases)
  func caught(kind: OperationMisuse.Kind) async throws {
    try await onOwnThread {
      let log = EventLog<OperationMisuse>()
      let example = MisuseExample.of(kind)
      example.make { call in for misuse in OperationMisuse.catching(call) { log.note(misuse) } }
      #expect(log.events.map(\.kind) == [kind])
      #expect(log.events.map { withoutNumbers("\($0)") } == [example.message])
    }
  }

  @Test(
    "MI-1: uncaught, each kind traps with its message",
    arguments: OperationMisuse.Kind.allCases.indices)
  func trapInOwnProcess(index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index] in
      try await onOwnThread {
        MisuseExample.of(OperationMisuse.Kind.allCases[index]).make { call in call() }
      }
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let message = MisuseExample.of(OperationMisuse.Kind.allCases[index]).message
    #expect(withoutNumbers(printed).contains("*** NSInvalidArgumentException: \(message)\n"))
  }

  @Test("MI-1: a handler gets all uncaught mistakes of the process, and may be replaced")
  func handlerInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread {
        let log = EventLog<OperationMisuse.Kind>()
        let operation = Operation()
        OperationMisuse.handler = { log.note($0.kind) }
        operation.addDependency(operation)
        #expect(OperationMisuse.catching { operation.addDependency(operation) }.count == 1)
        let queue = OperationQueue()
        queue.addOperation { queue.waitUntilAllOperationsAreFinished() }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.events == [.selfDependency, .waitInsideOwnQueue])
        let released = EventLog<String>()
        do {
          let probe = DeinitProbe("released", in: released)
          OperationMisuse.handler = { _ in probe.touch() }
        }
        operation.addDependency(operation)
        OperationMisuse.handler = nil
        #expect(log.events.count == 2 && released.events == ["released"])
      }
    }
  }

  @Test("MI-1: of two nested catching calls, the inner one catches")
  func nestedCatching() {
    let operation = Operation()
    let queue = OperationQueue()
    var inner: [OperationMisuse] = []
    let outer = OperationMisuse.catching {
      operation.addDependency(operation)
      inner = OperationMisuse.catching { queue.maxConcurrentOperationCount = -7 }
      operation.addDependency(operation)
    }
    #expect(inner.map(\.kind) == [.negativeWidth])
    #expect(outer.map(\.kind) == [.selfDependency, .selfDependency])
  }

  @Test("MI-1: an error of the body is rethrown, and nothing is caught after it")
  func throwingBody() throws {
    struct Refusal: Error, Equatable {}
    let operation = Operation()
    let outer = OperationMisuse.catching {
      #expect(throws: Refusal()) {
        try OperationMisuse.catching { () throws(Refusal) in
          operation.addDependency(operation)
          throw Refusal()
        }
      }
      operation.addDependency(operation)
    }
    #expect(outer.map(\.kind) == [.selfDependency])
  }

  @Test("MI-1: mistakes of other threads are not caught")
  func otherThreadsInOwnProcess() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await onOwnThread {
        let operation = Operation()
        _ = OperationMisuse.catching {
          OperationQueue().addOperation { operation.addDependency(operation) }
          operation.waitUntilFinished()
        }
      }
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains("cannot depend on itself"))
  }
}

@Suite("MI-1: the throwing forms of calls that trap")
struct ThrowingCallTests {
  /// Returns the kind of the `OperationMisuse` error that `call` throws; `nil` if it throws none.
  private func refusal(_ call: () throws -> Void) -> OperationMisuse.Kind? {
    do {
      try call()
      return nil
    } catch {
      return (error as? OperationMisuse)?.kind
    }
  }

  @Test("SA-4: tryStart throws if start is refused, and starts otherwise")
  func tryStart() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    #expect(refusal { try operation.tryStart() } == .receiverNotReady)
    #expect(!operation.isFinished)
    dependency.start()
    #expect(refusal { try operation.tryStart() } == nil)
    #expect(operation.isFinished)
    #expect(refusal { try operation.tryStart() } == nil, "SA-2")
  }

  @Test("MI-1: a mistake of main is not thrown by tryStart, but caught or reported around it")
  func tryStartSparesMain() throws {
    let outer = OperationMisuse.catching {
      let operation = SelfUsingOperation { operation in
        operation.addDependency(operation)
        // The inner call of `tryStart()` throws only its own error. The misuse that happened before
        // this call is reported to `OperationMisuse.catching`.
        #expect(throws: OperationMisuse.self) { try operation.tryStart() }
      }
      #expect(throws: Never.self) { try operation.tryStart() }
    }
    #expect(outer.map(\.kind) == [.selfDependency])
  }

  @Test("MI-1: a mistake of an observer is not thrown by tryStart either")
  func tryStartSparesObservers() {
    let operation = Operation()
    let observation = operation.observe(\.isExecuting) { operation, _ in
      operation.addDependency(operation)
    }
    let outer = OperationMisuse.catching {
      #expect(throws: Never.self) { try operation.tryStart() }
    }
    #expect(outer.map(\.kind) == [.selfDependency, .selfDependency] && operation.isFinished)
    withExtendedLifetime(observation) {}
  }

  @Test("Q-3: tryAddOperation throws, and the operation may be added elsewhere")
  func tryAddOperation() async throws {
    try await onOwnThread {
      let queues = [OperationQueue(), OperationQueue()]
      queues[0].isSuspended = true
      let operation = BlockOperation {}
      #expect(refusal { try queues[0].tryAddOperation(operation) } == nil)
      #expect(
        refusal { try queues[1].tryAddOperation(operation) }
          == .cannotEnqueue)
      #expect(queues[0].operations == [operation] && queues[1].operationCount == 0)
      queues[0].isSuspended = false
      operation.waitUntilFinished()
      #expect(
        refusal { try queues[1].tryAddOperation(operation) }
          == .cannotEnqueue)
    }
  }

  @Test("Q-3: tryAddOperations adds all or, throwing, none")
  func tryAddOperations() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let operations = (0..<3).map { _ in BlockOperation {} }
      let finished = Operation()
      finished.start()
      #expect(
        refusal { try queue.tryAddOperations(operations + [finished]) }
          == .cannotEnqueue)
      #expect(queue.operationCount == 0)
      #expect(refusal { try queue.tryAddOperations(operations) } == nil)
      queue.waitUntilAllOperationsAreFinished()
      #expect(queue.operationCount == 0 && operations.allSatisfy(\.isFinished))
    }
  }
}
