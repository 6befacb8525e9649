// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import Testing

@testable import DemoWorkloads

@Suite struct PrioritiesScenarioTests {
  private func desk(seed: UInt64 = 7, isOnce: Bool = false, seconds: Int) -> SimulatedDesk {
    var desk = SimulatedDesk(PrioritiesScenario(seed: seed, isOnce: isOnce))
    desk.play(until: .seconds(seconds))
    return desk
  }

  private func count(_ tasks: [PlannedTask], _ kind: DeskPlan.Kind) -> Int {
    tasks.count { $0.name.hasPrefix(kind.words) }
  }

  @Test func theStartHasAllFivePrioritiesAndAnInversion() throws {
    var scenario = PrioritiesScenario(seed: 7, isOnce: false)
    guard case .add(let tasks) = scenario.start().first else {
      Issue.record("it does not begin with operations")
      return
    }
    #expect(Set(tasks.map(\.priority)).count == 5)
    #expect(Set(tasks.map(\.id)).count == tasks.count)
    #expect(Set(tasks.map(\.name)).count == tasks.count)
    let closing = try #require(tasks.first { $0.name == "close incident 1" })
    let contract = try #require(tasks.first { $0.name == "find contract 1" })
    #expect(closing.dependencies == [contract.id])
    #expect(closing.priority == .veryHigh && contract.priority == .veryLow)
  }

  @Test func theDeskIsOverloadedButNotWithUrgentWork() {
    let load = DeskPlan.Kind.allCases.map(\.load)
    #expect(load.reduce(0, +) > 115)
    #expect(load.prefix(3).reduce(0, +) < 95)
  }

  @Test("Urgent work is done, and the least urgent work starves", arguments: 1...5)
  func starvation(seed: UInt64) {
    let desk = desk(seed: seed, seconds: 300)
    #expect(count(desk.waiting, .alarm) <= 3 && count(desk.waiting, .call) <= 5)
    #expect(count(desk.done, .mail) > 3 * count(desk.done, .filing))
    #expect(count(desk.done, .filing) > 5)
    #expect(count(desk.done, .archive) == 0)
    #expect(count(desk.waiting, .archive) == PrioritiesScenario.limit)
    #expect(!desk.waiting.filter { $0.name == "close incident 1" }.isEmpty)
  }

  @Test func theBacklogIsBounded() {
    let desk = desk(seconds: 900)
    let incidents = 2 * PrioritiesScenario.incidentLimit
    #expect(
      desk.longestBacklog <= PrioritiesScenario.limit * DeskPlan.Kind.allCases.count + incidents)
    #expect(
      desk.waiting.count { $0.name.hasPrefix("close incident") }
        <= PrioritiesScenario.incidentLimit)
  }

  @Test(arguments: 1...5)
  func aOnceRunFinishesWithEverythingDone(seed: UInt64) {
    let desk = desk(seed: seed, isOnce: true, seconds: 3_600)
    #expect(desk.isFinished && desk.waiting.isEmpty)
    #expect(desk.done.contains { $0.name == "close incident 1" })
    #expect(count(desk.done, .archive) >= PrioritiesScenario.initial)
  }

  @Test func theSameSeedPlaysTheSame() {
    #expect(desk(seconds: 60).done == desk(seconds: 60).done)
    #expect(desk(seconds: 60).done != desk(seed: 8, seconds: 60).done)
  }
}
