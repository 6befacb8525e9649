// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct StubbornScenarioTests {
  private func items(_ queue: WorkloadQueue, seed: UInt64 = 7) -> [StubbornPlan.Item] {
    var plan = StubbornPlan(seed: seed)
    return (0..<60).map { plan.next(for: queue, id: PlannedTask.ID(rawValue: $0)) }
  }

  private func added(_ steps: [StubbornScenario.Step]) -> [PlannedTask] {
    steps.flatMap { step -> [PlannedTask] in
      if case .add(let tasks) = step { tasks } else { [] }
    }
  }

  @Test func aPlanRepeats() {
    #expect(items(StubbornPlan.media) == items(StubbornPlan.media))
    #expect(items(StubbornPlan.media) != items(StubbornPlan.media, seed: 8))
  }

  @Test func deafOperationsRunFiveToTwentySecondsAfterCancellation() {
    let deaf = items(StubbornPlan.media).filter { $0.task.manner == .deaf }
    #expect(deaf.count == 40 && deaf.allSatisfy { $0.task.name.hasPrefix("transcode film ") })
    for item in deaf {
      guard let patience = item.patience else { continue }
      #expect((.seconds(5) ... .seconds(20)).contains(item.task.duration - patience))
    }
  }

  @Test func theFirstOperationIsDeafAndCancelled() throws {
    for seed in 0..<20 as Range<UInt64> {
      let first = try #require(items(StubbornPlan.media, seed: seed).first)
      #expect(first.task.manner == .deaf && first.patience != nil)
    }
  }

  @Test func operationsEndPromptlyLateOrNever() {
    let all = items(StubbornPlan.media) + items(StubbornPlan.web)
    for manner in [.prompt, .late(parts: 3), .deaf] as [PlannedTask.Manner] {
      let ofThisManner = all.filter { $0.task.manner == manner }
      #expect(ofThisManner.contains { $0.patience != nil }, "\(manner)")
      #expect(ofThisManner.contains { $0.patience == nil }, "\(manner)")
    }
  }

  @Test func anOperationIsCancelledAfterItsStart() throws {
    var scenario = StubbornScenario(seed: 7, isOnce: false)
    let first = try #require(added(scenario.start()).first)
    let patience = try #require(items(StubbornPlan.media).first?.patience)
    #expect(scenario.began(first.id) == [.wake(.giveUp(first.id), after: patience)])
    #expect(scenario.rang(.giveUp(first.id)) == [.cancel(first.id)])
    #expect(added(scenario.ended(first.id)).map(\.queue) == ["media"])
    #expect(scenario.rang(.giveUp(first.id)) == [])
    #expect(scenario.ended(first.id) == [])
  }

  @Test func aOnceRunGivesEachQueueItsShareAndFinishes() {
    var scenario = StubbornScenario(seed: 7, isOnce: true)
    var open = added(scenario.start())
    var all = open
    var last: [StubbornScenario.Step] = []
    while !open.isEmpty {
      last = scenario.ended(open.removeFirst().id)
      open += added(last)
      all += added(last)
      #expect(last.contains(.finish) == open.isEmpty)
    }
    #expect(last == [.finish])
    #expect(all.filter { $0.queue == "media" }.count == 12 && all.count == 24)
    #expect(Set(all.map(\.id)).count == all.count && Set(all.map(\.name)).count == all.count)
  }
}
