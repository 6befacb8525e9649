// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

@Suite(.timeLimit(.minutes(10))) struct PrioritiesWorkloadTests {
  private typealias Workload = ScenarioWorkload<PrioritiesScenario>

  private func workload(isOnce: Bool = false, speed: Double = 1) -> Workload {
    Workload(PrioritiesScenario(seed: 7, isOnce: isOnce), pacing: Pacing(speed: speed))
  }

  private func desk(of workload: Workload) throws -> OperationQueue {
    try #require(workload.queues[DeskPlan.queue.name])
  }

  @Test func theMostUrgentOperationsStartFirst() async throws {
    // The demo runs so slowly that no operation ends during the test.
    let workload = workload(speed: 0.001)
    let desk = try desk(of: workload)
    workload.start()
    #expect(await eventually { desk.operations.count { $0.isExecuting } == 2 })
    let begun = desk.operations.filter(\.isExecuting)
    #expect(begun.allSatisfy { $0.name?.hasPrefix("answer alarm") == true })
    try await onOwnThread { workload.shutDown() }
  }

  @Test func aRaisedPriorityResolvesTheInversion() async throws {
    let workload = workload(speed: 20)
    let desk = try desk(of: workload)
    workload.start()
    let all = desk.operations
    let contract = try #require(all.first { $0.name == "find contract 1" })
    let closing = try #require(all.first { $0.name == "close incident 1" })
    contract.queuePriority = .veryHigh
    #expect(await eventually { closing.isFinished })
    try await onOwnThread { workload.shutDown() }
  }

  @Test func shuttingDownReleasesEverything() async throws {
    let workload = workload()
    let desk = try desk(of: workload)
    workload.start()
    weak let one = desk.operations.first
    #expect(one != nil)
    try await onOwnThread { workload.shutDown() }
    #expect(await eventually { desk.operationCount == 0 && one == nil })
  }

  @Test func aOnceRunFinishes() async throws {
    let workload = workload(isOnce: true, speed: 100)
    workload.start()
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
    #expect(try desk(of: workload).operationCount == 0)
    workload.shutDown()
  }
}
