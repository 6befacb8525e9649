// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

@Suite(.timeLimit(.minutes(10))) struct DeadlockWorkloadTests {
  private typealias Workload = ScenarioWorkload<DeadlockScenario>

  private func workload(isOnce: Bool = false, speed: Double = 1) -> Workload {
    Workload(DeadlockScenario(seed: 7, isOnce: isOnce), pacing: Pacing(speed: speed))
  }

  private func queue(_ queue: WorkloadQueue, of workload: Workload) throws -> OperationQueue {
    try #require(workload.queues[queue.name])
  }

  private func operation(_ name: String, of workload: Workload) throws -> Operation {
    let all = workload.queues.values.flatMap(\.operations)
    return try #require(all.first { $0.name == name })
  }

  /// Returns whether the queue is in the deadlock: its two executing operations wait for other
  /// operations of the queue, which cannot begin.
  private func isStuck(_ workload: Workload) throws -> Bool {
    let states = try queue(StartupPlan.imports, of: workload).operations.map(\.state)
    return states.prefix(2).allSatisfy { $0 == .executing }
      && states.dropFirst(2).allSatisfy { $0 != .executing }
  }

  private func cycles(in queue: OperationQueue) -> [OperationDeadlock] {
    queue.deadlocks().filter { if case .cycle = $0 { true } else { false } }
  }

  private func unfinishedCount(_ workload: Workload) -> Int {
    workload.queues.values.reduce(0) { $0 + $1.operationCount }
  }

  @Test func theThreeDeadlocksExistTogether() async throws {
    let workload = workload(speed: 0.5)
    workload.start()
    #expect(await eventually { (try? isStuck(workload)) == true })
    let startup = try queue(StartupPlan.startup, of: workload)
    #expect(
      cycles(in: startup).map { Set($0.operations.compactMap(\.name)) } == [
        ["load configuration", "fetch secrets", "open vault"]
      ])
    #expect(try operation("announce start", of: workload).dependencyCycle()?.count == 3)
    let forgotten = try #require(operation("join load balancer", of: workload).dependencies.first)
    #expect(forgotten.name == "probe health" && forgotten.state != .finished)
    let all = workload.queues.values.flatMap(\.operations)
    #expect(!all.contains(forgotten))
    workload.shutDown()
  }

  @Test func shuttingDownBreaksAllDeadlocksAndReleasesEverything() async throws {
    let workload = workload()
    workload.start()
    #expect(await eventually { (try? isStuck(workload)) == true })
    weak let member = try operation("open vault", of: workload)
    weak let holder = try operation("import orders", of: workload)
    weak let forgotten = try operation("join load balancer", of: workload).dependencies.first
    #expect(member != nil && holder != nil && forgotten != nil)
    let start = ContinuousClock.now
    try await onOwnThread { workload.shutDown() }
    #expect(ContinuousClock.now - start < .seconds(20))
    #expect(await eventually { unfinishedCount(workload) == 0 })
    #expect(await eventually { member == nil && holder == nil && forgotten == nil })
  }

  @Test func shuttingDownResumesSuspendedQueues() async throws {
    let workload = workload()
    for queue in workload.queues.values { queue.isSuspended = true }
    workload.start()
    #expect(unfinishedCount(workload) > 20)
    try await onOwnThread { workload.shutDown() }
    #expect(await eventually { unfinishedCount(workload) == 0 })
  }

  @Test func eachDeadlockCanBeResolved() async throws {
    let workload = workload(speed: 20)
    workload.start()
    #expect(await eventually { (try? isStuck(workload)) == true })

    try operation("fetch secrets", of: workload).cancel()
    let startup = try queue(StartupPlan.startup, of: workload)
    #expect(await eventually { startup.operations.compactMap(\.name).count == 2 })
    #expect(cycles(in: startup).isEmpty)

    let imports = try queue(StartupPlan.imports, of: workload)
    imports.maxConcurrentOperationCount += 1
    #expect(await eventually { imports.operationCount == 0 })

    try operation("join load balancer", of: workload).cancel()
    // After the last operation of the scenario `startup` has ended, there is a pause, and then the
    // scenario begins again.
    #expect(await eventually { cycles(in: startup).count == 1 })
    #expect(imports.maxConcurrentOperationCount == 2)
    try await onOwnThread { workload.shutDown() }
  }

  @Test func aOnceRunFinishesByItself() async throws {
    let workload = workload(isOnce: true, speed: 50)
    workload.start()
    #expect(await eventually { (try? isStuck(workload)) == true })
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
    #expect(unfinishedCount(workload) == 0)
    workload.shutDown()
  }

  @Test func aOnceRunFinishesWhenTheBlockedOperationsAreCancelled() async throws {
    let workload = workload(isOnce: true, speed: 50)
    workload.start()
    for name in ["join load balancer", "take traffic", "open vault"] {
      try operation(name, of: workload).cancel()
    }
    await withCheckedContinuation { continuation in
      workload.whenFinished { continuation.resume() }
    }
    #expect(unfinishedCount(workload) == 0)
    workload.shutDown()
  }

  @Test func aSecondStartHasNoEffect() {
    let workload = workload()
    workload.start()
    let count = unfinishedCount(workload)
    workload.start()
    #expect(unfinishedCount(workload) == count)
    workload.shutDown()
  }
}
