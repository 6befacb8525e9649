// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Misuse has no effect on operations and queues")
struct MisuseTests {
  @Test("MI-1, Q-10: the message about an unknown key names the queue and the key")
  func unknownToAQueue() {
    let queue = OperationQueue()
    queue.name = "tiles"
    let mistakes = OperationMisuse.catching {
      _ = queue.value(forKey: "color")
      queue.removeObserver(Listener(), forKeyPath: "isSuspended")
    }
    #expect(mistakes.map(\.kind) == [.undefinedKey, .observerNotRegistered])
    #expect(
      mistakes.map(\.description) == [
        "-[OperationQueue valueForKey:]: “tiles” is not key value coding-compliant for the key "
          + "“color”",
        "-[OperationQueue removeObserver:forKeyPath:]: “tiles” has no such observer for the key path "
          + "“isSuspended”",
      ])
  }

  /// Returns the kinds of misuse of the library that `body` commits on the calling thread.
  private func mistakes(_ body: () -> Void) -> [OperationMisuse.Kind] {
    OperationMisuse.catching(body).map(\.kind)
  }

  @Test("SA-4: starting an operation that is not ready; it may be started later")
  func notReady() {
    let dependency = Operation()
    let operation = Operation()
    operation.addDependency(dependency)
    #expect(mistakes { operation.start() } == [.receiverNotReady])
    #expect(!operation.isFinished && !operation.isExecuting)
    dependency.start()
    operation.start()
    #expect(operation.isFinished)
  }

  @Test("SA-3, SA-5: starting an executing operation: main runs once")
  func executing() async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = PlainSubclass { gate.pass() }
      startThread { operation.start() }
      gate.waitForArrivals(1)
      #expect(mistakes { operation.start() } == [.receiverAlreadyExecuting])
      gate.open()
      operation.waitUntilFinished()
      #expect(gate.arrivedCount == 1)
    }
  }

  @Test("SA-6: starting an operation by hand that is in a queue")
  func startOfAQueuedOne() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.isSuspended = true
      let operations: [Operation] = [Operation(), BlockOperation {}]
      queue.addOperations(operations, waitUntilFinished: false)
      let kinds = mistakes { for operation in operations { operation.start() } }
      #expect(kinds == [.startOfEnqueuedOperation, .startOfEnqueuedOperation])
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  @Test("Q-3, SA-6: adding an operation that is queued, executes or has finished")
  func adding() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let other = OperationQueue()
      queue.isSuspended = true
      let gate = Gate()
      let finished = Operation()
      finished.start()
      let queued = Operation()
      queue.addOperation(queued)
      let executing = PlainSubclass { gate.pass() }
      startThread { executing.start() }
      gate.waitForArrivals(1)
      let kinds = mistakes {
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

  @Test("Q-3: a batch with an invalid operation is refused, and the others can be added elsewhere")
  func batch() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let unfit = Operation()
      unfit.start()
      let fit = (0..<3).map { _ in BlockOperation {} }
      let twice = BlockOperation {}
      let kinds = mistakes {
        queue.addOperations(fit + [unfit], waitUntilFinished: true)
        queue.addOperations([twice, fit[0], twice], waitUntilFinished: true)
      }
      #expect(kinds == [.cannotEnqueue, .cannotEnqueue])
      #expect(queue.operationCount == 0 && fit.allSatisfy { !$0.isFinished })
      OperationQueue().addOperations(fit + [twice], waitUntilFinished: true)
    }
  }

  @Test("Q-3: other threads can change the operations of a batch while it is refused")
  func changesDuringRefusal() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      let unfit = Operation()
      unfit.start()
      for round in 0..<Effort.scaled(5_000) {
        let fit = (0..<10).map { _ in BlockOperation {} }
        let kinds = Monitored<[OperationMisuse.Kind]>([])
        onThreads(3) { thread in
          guard thread > 0 else {
            // The queue is released when it has refused the batch, while other threads still change
            // the operations.
            let found = self.mistakes {
              OperationQueue().addOperations(fit + [unfit], waitUntilFinished: false)
            }
            return kinds.change { $0 = found }
          }
          var random = SeededGenerator(seed: seed &+ UInt64(3 * round + thread))
          for _ in 0..<20 {
            let operation = fit[Int.random(in: 0..<fit.count, using: &random)]
            operation.queuePriority = Bool.random(using: &random) ? .high : .low
            if Int.random(in: 0..<10, using: &random) == 0 { operation.cancel() }
          }
        }
        #expect(kinds.value == [.cannotEnqueue])
        OperationQueue().addOperations(fit, waitUntilFinished: true)
        #expect(fit.allSatisfy { $0.isFinished })
      }
    }
  }

  @Test("F-5, DE-7: an operation that should depend on itself does not change")
  func selfDependency() {
    let operation = Operation()
    #expect(mistakes { operation.addDependency(operation) } == [.selfDependency])
    #expect(operation.dependencies.isEmpty && operation.isReady)
  }

  @Test("MX-3: a width below −1 is refused and changes nothing")
  func negativeWidth() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 3
    #expect(mistakes { queue.maxConcurrentOperationCount = -73 } == [.negativeWidth])
    #expect(queue.maxConcurrentOperationCount == 3)
  }

  @Test("BL-3: adding a block to an executing or finished operation is refused")
  func lateBlock() async throws {
    try await onOwnThread {
      let gate = Gate()
      let operation = BlockOperation { gate.pass() }
      startThread { operation.start() }
      gate.waitForArrivals(1)
      let add = { operation.addExecutionBlock { Issue.record("A late block ran") } }
      #expect(mistakes(add) == [.addsBlockAfterStart])
      gate.open()
      operation.waitUntilFinished()
      #expect(mistakes(add) == [.addsBlockAfterStart])
    }
  }

  @Test("WA-2: an operation that waits for itself continues without waiting")
  func waitingForItself() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<[OperationMisuse.Kind]>()
      let operation = SelfUsingOperation { operation in
        log.note(OperationMisuse.catching { operation.waitUntilFinished() }.map(\.kind))
      }
      queue.addOperations([operation], waitUntilFinished: true)
      #expect(log.events == [[.waitOnSelf]])
    }
  }

  @Test("WA-2: an operation that waits for the one around it continues without waiting")
  func waitingForTheOuterOne() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<[OperationMisuse.Kind]>()
      let outer = SelfUsingOperation { outer in
        BlockOperation {
          BlockOperation {
            log.note(OperationMisuse.catching { outer.waitUntilFinished() }.map(\.kind))
            log.note(
              OperationMisuse.catching { queue.waitUntilAllOperationsAreFinished() }.map(\.kind))
          }.start()
        }.start()
      }
      queue.addOperations([outer], waitUntilFinished: true)
      #expect(log.events == [[.waitOnSelf], [.waitInsideOwnQueue]])
    }
  }

  @Test("Q-12: an operation that waits for its queue continues without waiting")
  func waitingForTheOwnQueue() async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      let log = EventLog<[OperationMisuse.Kind]>()
      queue.addOperation {
        log.note(OperationMisuse.catching { queue.waitUntilAllOperationsAreFinished() }.map(\.kind))
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [[.waitInsideOwnQueue]])
    }
  }
}
