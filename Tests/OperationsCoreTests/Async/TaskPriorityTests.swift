// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCore
import TestSupport
import Testing

@Suite("The priority of the task that runs an asynchronous operation", .timeLimit(.minutes(5)))
struct TaskPriorityTests {
  @Test(
    "PR-7: a quality of service that is set has precedence",
    arguments: [
      (QualityOfService.userInteractive, TaskPriority.high), (.userInitiated, .high),
      (.utility, .low), (.background, .background),
    ])
  func stated(qualityOfService: QualityOfService, expected: TaskPriority) {
    for priority in Operation.QueuePriority.allCases {
      #expect(TaskPriority(qualityOfService, priority) == expected)
    }
  }

  @Test(
    "PR-1: without a quality of service, the queue priority decides",
    arguments: [
      (Operation.QueuePriority.veryHigh, TaskPriority.high), (.high, .high), (.low, .low),
      (.veryLow, .background),
    ])
  func unstated(priority: Operation.QueuePriority, expected: TaskPriority?) {
    #expect(TaskPriority(.default, priority) == expected)
  }

  @Test("PR-7: the operation's quality of service has precedence over its queue's")
  func inAQueue() async throws {
    let queue = OperationQueue()
    #expect(try await priority(in: queue) == .medium)
    queue.qualityOfService = .utility
    #expect(try await priority(in: queue) == .low)
    #expect(try await priority(in: queue, .userInitiated) == .high)
  }

  @Test("PR-7: started by hand, it has its own priority, or that of the task that starts it")
  func byHand() async throws {
    let modest = AsyncOperation { Task.basePriority }
    modest.queuePriority = .low
    let indifferent = AsyncOperation { Task.basePriority }
    await Task(priority: .high) {
      modest.start()
      indifferent.start()
    }.value
    #expect(try await modest.value == .low)
    #expect(try await indifferent.value == .high)
  }

  private func priority(
    in queue: OperationQueue, _ qualityOfService: QualityOfService = .default
  ) async throws -> TaskPriority {
    let operation = AsyncOperation { Task.basePriority ?? .medium }
    operation.qualityOfService = qualityOfService
    queue.addOperation(operation)
    return try await operation.value
  }
}
