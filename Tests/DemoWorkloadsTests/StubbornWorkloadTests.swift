// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

@Suite(.timeLimit(.minutes(10))) struct StubbornWorkloadTests {
  private typealias Workload = ScenarioWorkload<StubbornScenario>

  private func workload(isOnce: Bool = false, speed: Double = 1) -> Workload {
    Workload(StubbornScenario(seed: 7, isOnce: isOnce), pacing: Pacing(speed: speed))
  }

  private func operation(_ name: String, of workload: Workload) -> Operation? {
    workload.queues.values.flatMap(\.operations).first { $0.name == name }
  }

  @Test func theApplicationCancelsADeafOperation() async throws {
    // At this speed, the operation ends 20 s after the application has cancelled it.
    let workload = workload()
    for queue in workload.queues.values { queue.isSuspended = true }
    workload.start()
    let deaf = try #require(operation("transcode film 1", of: workload))
    let wasExecuting = Monitored<Bool?>(nil)
    let observation = deaf.observe(\.isCancelled) { operation, _ in
      wasExecuting.change { $0 = operation.isExecuting }
    }
    for queue in workload.queues.values { queue.isSuspended = false }
    try await onOwnThread {
      wasExecuting.wait(for: "the application to give up on it") { $0 == true }
      workload.shutDown()
    }
    observation.invalidate()
  }

  @Test func aPromptOperationEndsWhenCancelledAndADeafOneContinues() async throws {
    // The demo runs so slowly that no operation ends or is cancelled during the test.
    let workload = workload(speed: 0.01)
    workload.start()
    let names = ["transcode film 3", "download page 1"]
    #expect(
      await eventually {
        names.allSatisfy { operation($0, of: workload)?.isExecuting == true }
      })
    let deaf = try #require(operation(names[0], of: workload))
    let prompt = try #require(operation(names[1], of: workload))
    deaf.cancel()
    prompt.cancel()
    #expect(await eventually { prompt.isFinished })
    #expect(deaf.isExecuting && deaf.isCancelled)
    try await onOwnThread { workload.shutDown() }
  }

  @Test func shuttingDownEndsDeafOperations() async throws {
    let workload = workload(speed: 0.01)
    workload.start()
    #expect(
      await eventually { operation("transcode film 1", of: workload)?.isExecuting == true })
    weak let deaf = operation("transcode film 1", of: workload)
    try await onOwnThread { workload.shutDown() }
    #expect(await eventually { workload.queues.values.allSatisfy { $0.operationCount == 0 } })
    #expect(await eventually { deaf == nil })
  }

  @Test func aOnceRunFinishes() async throws {
    let workload = workload(isOnce: true, speed: 500)
    workload.start()
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
    #expect(workload.queues.values.allSatisfy { $0.operationCount == 0 })
    workload.shutDown()
  }
}
