// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dispatch
import OperationsCore

/// Checks the effects of waiting on the main thread for the main queue, and ends the program.
///
/// - Precondition: Called on the main thread of a program that does not serve the main queue.
package func checkWaitingOnMainThread() -> Never {
  let checks = Checks()
  let main = OperationQueue.main

  var made = OperationMisuse.catching { main.waitUntilAllOperationsAreFinished() }
  checks.expect(made.isEmpty, "an empty main queue may be waited for")
  checkWaitingInFurtherBlock(checks)

  let operation = BlockOperation {}
  main.addOperation(operation)
  made = OperationMisuse.catching { main.waitUntilAllOperationsAreFinished() }
  checks.expect(made.map(\.kind) == [.waitOnMainThread], "waiting for all is refused")
  made = OperationMisuse.catching { operation.waitUntilFinished() }
  checks.expect(
    made.map(\.kind) == [.waitOnMainThread], "waiting for a pending operation is refused")
  operation.cancel()
  made = OperationMisuse.catching { operation.waitUntilFinished() }
  checks.expect(
    made.map(\.kind) == [.waitOnMainThread], "waiting for a cancelled operation is refused")

  let batch = [BlockOperation {}, BlockOperation {}]
  made = OperationMisuse.catching { main.addOperations(batch, waitUntilFinished: true) }
  checks.expect(made.map(\.kind) == [.waitOnMainThread], "adding and waiting is refused")
  checks.expect(main.operations == [operation], "nothing was added")
  made = OperationMisuse.catching { OperationQueue().addOperations(batch, waitUntilFinished: true) }
  checks.expect(made.isEmpty, "another queue may be waited for on the main thread")

  let underlying = OperationQueue()
  underlying.underlyingQueue = .main
  let pending = BlockOperation {}
  underlying.addOperation(pending)
  made = OperationMisuse.catching {
    underlying.waitUntilAllOperationsAreFinished()
    pending.waitUntilFinished()
    underlying.addOperations([BlockOperation {}], waitUntilFinished: true)
  }
  checks.expect(
    made.map(\.kind) == Array(repeating: .waitOnMainThread, count: 3),
    "nor may one whose underlying queue is the main dispatch queue")
  checks.end()
}

/// Checks a wait for the main queue in a block operation that is started directly.
private func checkWaitingInFurtherBlock(_ checks: Checks) {
  let hasWaited = DispatchSemaphore(value: 0)
  let operation = BlockOperation { hasWaited.wait() }
  operation.addExecutionBlock {
    let made = OperationMisuse.catching { OperationQueue.main.waitUntilAllOperationsAreFinished() }
    checks.expect(made.isEmpty, "a further block is not an operation of the main queue")
    checks.expect(OperationQueue.current == nil, "no queue is current in a further block")
    hasWaited.signal()
  }
  operation.start()
}

/// Waits on the main thread for an operation of the main queue, which traps.
package func waitOnMainThread() {
  OperationQueue.main.addOperation {}
  OperationQueue.main.waitUntilAllOperationsAreFinished()
}

/// Checks waiting on the main thread while it serves the main queue: waiting for an asynchronous
/// operation that has started is allowed, and waiting for an operation that has not started is a
/// misuse. Then ends the program.
package func checkWaitingForStarted() {
  let checks = Checks()
  let operation = ElsewhereOperation()
  OperationQueue.main.addOperation(operation)
  DispatchQueue.main.async {
    checks.expect(operation.isExecuting, "the operation has started and runs on another thread")
    let next = BlockOperation {}
    OperationQueue.main.addOperation(next)
    let refused = OperationMisuse.catching {
      OperationQueue.main.waitUntilAllOperationsAreFinished()
      next.waitUntilFinished()
    }
    checks.expect(refused.count == 2, "waiting for operations that have not started is refused")
    next.cancel()
    operation.finishElsewhere()
    checks.expect(
      OperationMisuse.catching { operation.waitUntilFinished() }.isEmpty,
      "waiting for a started operation is allowed")
    checks.end()
  }
}

/// An operation that finishes when another thread ends its work.
private final class ElsewhereOperation: Operation, @unchecked Sendable {
  private let flags = Locked((isExecuting: false, isFinished: false))

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { flags.withLock { $0.isExecuting } }
  override var isFinished: Bool { flags.withLock { $0.isFinished } }

  override func start() {
    willChangeValue(forKey: "isExecuting")
    flags.withLock { $0.isExecuting = true }
    didChangeValue(forKey: "isExecuting")
  }

  func finishElsewhere() {
    startThread { [self] in
      willChangeValue(forKey: "isExecuting")
      willChangeValue(forKey: "isFinished")
      flags.withLock { $0 = (isExecuting: false, isFinished: true) }
      didChangeValue(forKey: "isExecuting")
      didChangeValue(forKey: "isFinished")
    }
  }
}
