// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite("Operations that end their thread")
struct ThreadExitTests {
  // The tests run in separate processes, so that they do not affect the thread pool of other tests.
  // Leak detection is disabled, because memory that only the stack of an ended thread refers to is
  // leaked.
  @Test("H-10: an operation that ends its thread stays executing, and all others continue")
  func exitingOperationsInOwnProcess() async {
    await #expect(processExitsWith: .success) {
      try await onOwnThread(within: .seconds(60)) {
        weak var first: OperationQueue?
        weak var second: OperationQueue?
        do {
          let queues = [OperationQueue(), OperationQueue()]
          queues[1].maxConcurrentOperationCount = 5
          (first, second) = (queues[0], queues[1])
          for queue in queues { theRestGoesOn(queue) }
        }
        // Workers that search for further operations retain the queues for some microseconds.
        while first != nil || second != nil { sched_yield() }
      }
      _exit(0)
    }
  }
}

/// Checks that a queue in which four operations end their threads executes other operations with
/// its remaining slots and threads.
private func theRestGoesOn(_ queue: OperationQueue) {
  let exiting = (0..<4).map { _ in ExitingOperation() }
  for operation in exiting { queue.addOperation(operation) }
  queue.addOperations((0..<100).map { _ in BlockOperation {} }, waitUntilFinished: true)
  // The test checks repeatedly, because there is no event for the end of a thread.
  while queue.operations.contains(where: { !$0.isExecuting }) { sched_yield() }
  precondition(queue.operations == exiting)
  // This thread finishes the operations whose threads have ended. After that, all slots of the
  // queue are free, and threads exist for all of them.
  for operation in exiting { operation.finish() }
  queue.waitUntilAllOperationsAreFinished()
  let gate = Gate()
  for _ in 0..<5 { queue.addOperation { gate.pass() } }
  precondition(gate.waitForArrivals(5))
  gate.open()
  queue.waitUntilAllOperationsAreFinished()
}

/// An operation whose `main()` ends its thread instead of returning. Another thread finishes the
/// operation.
private final class ExitingOperation: Operation, @unchecked Sendable {
  private let hasFinished = Flag()

  override var isFinished: Bool { super.isFinished || hasFinished.isRaised }

  override func main() { pthread_exit(nil) }

  func finish() {
    willChangeValue(forKey: "isFinished")
    hasFinished.raise()
    didChangeValue(forKey: "isFinished")
  }
}
