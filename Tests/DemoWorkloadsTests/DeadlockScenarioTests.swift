// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct DeadlockScenarioTests {
  private typealias Step = DeadlockScenario.Step

  /// Returns the tasks that the steps of a scenario add.
  private func added(_ steps: [Step]) -> [PlannedTask] {
    steps.flatMap { step -> [PlannedTask] in
      if case .add(let tasks) = step { tasks } else { [] }
    }
  }

  private func tasks(_ steps: [Step], inService: Bool) -> [PlannedTask] {
    added(steps).filter { ($0.queue == ServicePlan.queue.name) == inService }
  }

  @Test func theScenarioBeginsWithAStartupAndHealthyWork() {
    var scenario = DeadlockScenario(seed: 7, isOnce: false)
    let steps = scenario.start()
    #expect(
      tasks(steps, inService: false) == StartupPlan(seed: 7, round: 1, firstID: 0).tasks)
    #expect(tasks(steps, inService: true).count == ServicePlan.backlog)
    #expect(Set(added(steps).map(\.id)).count == added(steps).count)
    #expect(steps.count == 3, "no alarm: it stays stuck")
  }

  @Test func healthyWorkIsReplacedDuringTheDeadlock() {
    var scenario = DeadlockScenario(seed: 7, isOnce: false)
    var serving = tasks(scenario.start(), inService: true)
    for _ in 0..<20 {
      let steps = scenario.ended(serving.removeFirst().id)
      #expect(added(steps).count == 1 && steps.count == 1)
      serving += added(steps)
    }
  }

  @Test func theStartRepeatsAfterARest() {
    var scenario = DeadlockScenario(seed: 7, isOnce: false)
    let first = tasks(scenario.start(), inService: false).filter { $0.queue != nil }
    for task in first.dropLast() { #expect(scenario.ended(task.id) == []) }
    #expect(
      scenario.ended(first[first.count - 1].id) == [
        .wake(.restart, after: DeadlockScenario.rest)
      ])
    let second = scenario.rang(.restart)
    #expect(second.first == .setWidth(2, queue: "import"))
    #expect(added(second).map(\.name).filter { $0 == "load configuration" }.count == 1)
    #expect(Set(added(second).map(\.id)).isDisjoint(with: first.map(\.id)))
  }

  @Test func aOnceRunResolvesEachDeadlockAndFinishes() throws {
    var scenario = DeadlockScenario(seed: 7, isOnce: true)
    let plan = StartupPlan(seed: 7, round: 1, firstID: 0)
    let steps = scenario.start()
    for (alarm, delay) in DeadlockScenario.undoing {
      #expect(steps.contains(.wake(alarm, after: delay)))
    }
    #expect(scenario.rang(.breakCycle) == [.cancel(plan.cycle[0])])
    #expect(scenario.rang(.widen) == [.setWidth(3, queue: "import")])
    #expect(scenario.rang(.remember) == [.enqueue(plan.forgotten, queue: "startup")])
    for task in plan.tasks { #expect(scenario.ended(task.id) == []) }
    let serving = tasks(steps, inService: true)
    for task in serving.dropLast() { #expect(scenario.ended(task.id) == []) }
    #expect(scenario.ended(try #require(serving.last).id) == [.finish])
  }

  @Test func rememberDoesNothingAfterTheStart() {
    var scenario = DeadlockScenario(seed: 7, isOnce: true)
    for task in tasks(scenario.start(), inService: false) where task.queue != nil {
      _ = scenario.ended(task.id)
    }
    #expect(scenario.rang(.remember) == [])
  }

  @Test func aRepeatedEndCountsOnce() {
    var scenario = DeadlockScenario(seed: 7, isOnce: false)
    let steps = scenario.start()
    let serving = tasks(steps, inService: true)
    #expect(scenario.ended(serving[0].id).count == 1)
    #expect(scenario.ended(serving[0].id) == [])
  }
}
