// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@testable import OperationsCore

@Suite("The end of the chain that an operation waits for")
struct InspectionChainTests {
  private func reference(_ operation: Operation) -> OperationReference {
    OperationReference(operation)
  }

  private func suspendedQueue() -> OperationQueue {
    let queue = OperationQueue()
    queue.isSuspended = true
    return queue
  }

  private func chain(_ reasons: [NotRunningReason]) -> OperationDependencyChain? {
    for case .unmetDependencies(_, _, let chain) in reasons { return chain }
    return nil
  }

  @Test("The end of a chain is ready, suspended, not ready by itself, never added, or a cycle")
  func chainEnds() async throws {
    try await onOwnThread {
      let gate = Gate()
      let busy = OperationQueue()
      busy.maxConcurrentOperationCount = 1
      busy.addOperation { gate.pass() }
      let suspended = suspendedQueue()
      let operation = Operation()
      func end() -> OperationDependencyChain.End? { chain(operation.reasonsNotRunning())?.end }
      func depend(on dependency: Operation, in queue: OperationQueue?) -> Operation {
        operation.addDependency(dependency)
        queue?.addOperation(dependency)
        return dependency
      }
      // If an operation has several dependencies, the library reports the one that is expected to
      // finish last. Each dependency that the test adds is expected to finish later than the
      // earlier ones.
      let ready = depend(on: Operation(), in: busy)
      #expect(end() == .ready(QueueReference(busy)))
      let conditional = FlaggedOperation()
      _ = depend(on: conditional, in: busy)
      #expect(end() == .notReadyByItself)
      let held = depend(on: Operation(), in: suspended)
      #expect(end() == .suspended(QueueReference(suspended)))
      let forgotten = depend(on: Operation(), in: nil)
      #expect(end() == .neverAdded)
      #expect(chain(operation.reasonsNotRunning())?.operations == [reference(forgotten)])
      for dependency in [ready, conditional, held, forgotten] {
        operation.removeDependency(dependency)
      }
      #expect(end() == nil)

      let next = Operation()
      next.addDependency(operation)
      _ = depend(on: next, in: suspended)
      #expect(end() == .cycle(reference(operation)))
      #expect(chain(operation.reasonsNotRunning())?.operations == [reference(next)])
      operation.removeDependency(next)
      conditional.allow()
      suspended.cancelAllAndResume()
      next.removeDependency(operation)
      gate.open()
      busy.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("A chain has twelve operations at most")
  func longChain() {
    let operations = (0...13).map { _ in Operation() }
    let queue = suspendedQueue()
    for (operation, next) in zip(operations, operations.dropFirst()) {
      operation.addDependency(next)
    }
    queue.addOperations(Array(operations[1...]), waitUntilFinished: false)
    let long = chain(operations[0].reasonsNotRunning())
    #expect(long?.operations == operations[1...12].map(reference) && long?.end == .goesOn)
    let short = chain(operations[1].reasonsNotRunning())
    #expect(short?.operations == operations[2...13].map(reference))
    #expect(short?.end == .suspended(QueueReference(queue)))
    queue.cancelAllAndResume()
  }
}
