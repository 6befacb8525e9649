// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Priorities and qualities of service of single operations")
struct PriorityTests {
  @Test(
    "PR-8: the thread priority is clamped to 0.0 to 1.0",
    arguments: [
      (0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (-0.1, 0.0), (1.1, 1.0), (.infinity, 1.0),
      (-.infinity, 0.0), (.nan, 0.5),
    ] as [(Double, Double)])
  func threadPriority(given: Double, expected: Double) {
    let operation = Operation()
    #expect(operation.threadPriority == 0.5)
    operation.threadPriority = given
    #expect(operation.threadPriority == expected)
  }

  @Test("PR-7: inside main, the operation's quality of service applies, or else the queue's")
  func currentQualityOfService() async throws {
    try await onOwnThread {
      let log = EventLog<[QualityOfService]>()
      for queueLevel in QualityOfService.allCases {
        for level in QualityOfService.allCases {
          let queue = OperationQueue()
          queue.qualityOfService = queueLevel
          for make in Self.makers {
            let operation = make { log.note([queueLevel, level, .current]) }
            operation.qualityOfService = level
            queue.addOperations([operation], waitUntilFinished: true)
          }
        }
      }
      #expect(log.events.count == 50)
      #expect(log.events.allSatisfy { $0[2] == ($0[1] == .default ? $0[0] : $0[1]) })
    }
  }

  private static let makers: [@Sendable (@escaping @Sendable () -> Void) -> Operation] = [
    { BlockOperation(block: $0) }, { PlainSubclass(work: $0) },
  ]

  @Test("PR-7: extra blocks of a block operation have its quality of service too")
  func extraBlocks() async throws {
    try await onOwnThread {
      let log = EventLog<QualityOfService>()
      let queue = OperationQueue()
      queue.qualityOfService = .utility
      let operation = BlockOperation()
      for _ in 0..<3 { operation.addExecutionBlock { log.note(.current) } }
      queue.addOperations([operation], waitUntilFinished: true)
      #expect(log.events == [.utility, .utility, .utility])
    }
  }

  @Test("PR-7: started by hand, the operation's own applies; outside operations there is none")
  func currentQualityOfServiceByHand() async throws {
    try await onOwnThread {
      let log = EventLog<QualityOfService>()
      let operation = PlainSubclass { log.note(.current) }
      operation.qualityOfService = .background
      #expect(QualityOfService.current == .default)
      operation.start()
      #expect(QualityOfService.current == .default)
      let queue = OperationQueue()
      queue.qualityOfService = .userInitiated
      queue.addOperation {
        PlainSubclass { log.note(.current) }.start()
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == [.background, .userInitiated])
    }
  }

  @Test(
    "PR-5: a priority set in a queue takes effect at the next start, at the tail of its level",
    arguments: [true, false])
  func movedWhileQueued(queueIsReadInBetween: Bool) async throws {
    try await onOwnThread {
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let log = EventLog<String>()
      let names = ["a", "b", "c", "d"]
      let operations = names.map { name in PlainSubclass { log.note(name) } }
      for operation in operations { queue.addOperation(operation) }
      if queueIsReadInBetween { #expect(queue.operationCount == 4) }
      operations[2].queuePriority = .high
      operations[0].queuePriority = .high
      // Setting the same priority again does not move the operation in the start order. Changing
      // the priority and changing it back moves the operation behind the operations of equal
      // priority.
      operations[2].queuePriority = .high
      operations[1].queuePriority = .low
      if queueIsReadInBetween { #expect(queue.operationCount == 4) }
      operations[1].queuePriority = .normal
      let late = PlainSubclass { log.note("late") }
      late.queuePriority = .high
      queue.addOperation(late)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      #expect(log.events == ["c", "a", "late", "d", "b"])
    }
  }
}
