// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct StartupPlanTests {
  private let plan = StartupPlan(seed: 7, round: 1, firstID: 40)

  private func task(_ id: PlannedTask.ID) throws -> PlannedTask {
    try #require(plan.tasks.first { $0.id == id })
  }

  /// Returns all direct and indirect dependencies of a task.
  private func reach(of id: PlannedTask.ID) throws -> Set<PlannedTask.ID> {
    var reached: Set<PlannedTask.ID> = []
    var open = try task(id).dependencies
    while let next = open.popLast() {
      if reached.insert(next).inserted { open += try task(next).dependencies }
    }
    return reached
  }

  @Test func aPlanRepeats() {
    #expect(plan == StartupPlan(seed: 7, round: 1, firstID: 40))
    #expect(plan != StartupPlan(seed: 8, round: 1, firstID: 40))
    #expect(plan != StartupPlan(seed: 7, round: 2, firstID: 40))
  }

  @Test func idsAndNamesAreUniqueAndIdsBeginAtTheGivenNumber() {
    #expect(plan.tasks.map(\.id.rawValue) == Array(40..<40 + plan.tasks.count))
    #expect(Set(plan.tasks.map(\.name)).count == plan.tasks.count)
  }

  @Test func threeOperationsFormACycle() throws {
    #expect(plan.cycle.count == 3)
    for (id, next) in zip(plan.cycle, plan.cycle.dropFirst() + plan.cycle.prefix(1)) {
      #expect(try task(id).dependencies == [next])
    }
    #expect(try plan.cycle.map { try task($0).name }.first == "load configuration")
  }

  @Test func twelveOperationsWaitForTheCycle() throws {
    #expect(plan.behindCycle.count == 12)
    for id in plan.behindCycle { #expect(try reach(of: id).isSuperset(of: plan.cycle)) }
  }

  @Test func withoutTheCycleEachTaskFollowsItsDependencies() {
    let rest = plan.tasks.filter { !plan.cycle.contains($0.id) }
    #expect(rest.allSatisfy { task in task.dependencies.allSatisfy { $0 < task.id } })
  }

  @Test func slotHoldersWaitForLaterTasksOfTheSameQueue() throws {
    let queue = StartupPlan.imports
    let line = plan.tasks.filter { $0.queue == queue.name }
    let first = line.prefix(queue.width)
    #expect(Set(first.map(\.id)) == Set(plan.holders.keys))
    for holder in first {
      let awaited = try task(#require(holder.awaited))
      #expect(holder.awaited == plan.holders[holder.id])
      #expect(awaited.queue == queue.name && awaited.id > holder.id)
      #expect(awaited.dependencies.isEmpty && awaited.awaited == nil)
    }
    #expect(plan.tasks.filter { $0.awaited != nil }.count == first.count)
    // The next task in the queue is one that an executing task waits for. It has no dependencies,
    // so one more slot resolves the deadlock.
    #expect(line[queue.width].id == plan.holders[first[0].id])
  }

  @Test func twoOperationsWaitForAnOperationThatIsInNoQueue() throws {
    #expect(plan.tasks.filter { $0.queue == nil }.map(\.id) == [plan.forgotten])
    let waiting = try plan.tasks.filter { try reach(of: $0.id).contains(plan.forgotten) }
    #expect(waiting.map(\.name) == ["join load balancer", "take traffic"])
    for task in waiting { #expect(try reach(of: task.id).isDisjoint(with: plan.cycle)) }
  }

  @Test func theHealthyWorkRepeatsAndIsNumbered() {
    func names(seed: UInt64) -> [String] {
      var plan = ServicePlan(seed: seed)
      return (0..<30).map { plan.next(id: PlannedTask.ID(rawValue: $0)).name }
    }
    #expect(names(seed: 3) == names(seed: 3) && names(seed: 3) != names(seed: 4))
    #expect(Set(names(seed: 3)).count == 30)
  }
}
