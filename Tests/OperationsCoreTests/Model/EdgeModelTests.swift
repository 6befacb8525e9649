// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import RandomPrograms
import TestSupport
import Testing

@Suite("Many dependencies against the model", .oneAtATime)
struct EdgeModelTests {
  @Test(
    "DE-2, DE-6, DE-9, DE-10: random changes of many edges have the same result as in a model",
    arguments: EdgeWalk.Size.all)
  func randomChanges(size: EdgeWalk.Size) async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(100) {
        let own = seed &+ UInt64(round)
        let play = EdgePlay(size, seed: own)
        play.run()
        guard let finding = play.findings.first else { continue }
        Issue.record("OPQ_SEED=\(own) repeats it: \(finding)")
        return
      }
    }
  }

  @Test(
    "The random changes cross each limit of the storage of edges, upward and downward",
    arguments: ["dependencies", "dependents", "both"])
  func limitsAreCrossed(kind: String) async throws {
    let crossings = try await onOwnThread {
      var crossings: Set<[Int]> = []
      for (number, size) in EdgeWalk.Size.all.enumerated() {
        for round in UInt64(0)..<5 {
          let play = EdgePlay(size, seed: 5 * UInt64(number) + round)
          play.run()
          let counts = play.counts
          let all =
            kind == "both"
            ? counts.both : kind == "dependents" ? counts.dependents : counts.dependencies
          crossings.formUnion(zip(all, all.dropFirst()).map { [$0, $1] })
        }
      }
      return crossings
    }
    // The limits are those of the first edges, of the capacities of blocks, and of the list. One or two edges are
    // not in the block.
    let limits = [0, 1, 2, 6, 7, 8, 14, 15, 16, 30, 31, 32, 62, 63, 64]
    let missing = limits.flatMap { [[$0, $0 + 1], [$0 + 1, $0]] }.filter { !crossings.contains($0) }
    #expect(missing.isEmpty)
  }

  @Test("150 programs with up to 40 edges of an operation, step by step, match the rules")
  func stepByStep() async throws { try await examine(150, LockStepRun().discrepancy) }

  @Test(
    "500 programs with up to 40 edges of an operation, several threads at once: nothing is lost")
  func atOnce() async throws { try await examine(500, FreeRun().discrepancy) }

  private func examine(
    _ count: Int, _ check: @escaping @Sendable (Program, Duration) -> Discrepancy?
  ) async throws {
    let seed = SeededGenerator.announcedSeed()
    let finding = try await onOwnThread(within: .seconds(1_200)) {
      Examination(
        title: "A program that breaks the rules", check: check,
        makeProgram: HubProgramGenerator.program
      ).finding(inPrograms: Effort.scaled(count), seed: seed)
    }
    if let finding { Issue.record("\(finding)") }
  }

  @Test(
    "The programs have operations with more edges than a block, which finish and notify 40 dependents"
  )
  func programsReachTheirSizes() async throws {
    let (mostDependencies, mostDependents, mostNotified) = try await onOwnThread {
      var most = (0, 0, 0)
      for seed in UInt64(0)..<40 {
        var items: [Model.Item] = []
        for scene in Rehearsal(HubProgramGenerator.program(seed: seed).forModel).scenes {
          for (index, item) in scene.model.items.enumerated() {
            most.0 = max(most.0, item.dependencies.count)
            most.1 = max(most.1, item.dependents.count)
            if item.phase == .finished, !items.isEmpty, items[index].phase != .finished {
              most.2 = max(most.2, items[index].dependents.count)
            }
          }
          items = scene.model.items
        }
      }
      return most
    }
    #expect(mostDependencies >= 64)
    #expect(mostDependents >= 64)
    #expect(mostNotified >= 40, "The maximum number of dependents that a finish notified")
  }

  @Test(
    "A model that lacks a rule of dependencies is contradicted",
    arguments: [Model.Rules.idempotentDependencies, .removingReleases, .retainsDependencies])
  func ruleLeftOut(rule: Model.Rules) async throws {
    let isFound = try await onOwnThread {
      Examination(
        title: "Deliberate fault", check: LockStepRun(rules: .all.subtracting(rule)).discrepancy,
        makeProgram: HubProgramGenerator.program, patience: .milliseconds(50),
        confirmingPatience: .milliseconds(500)
      ).firstFailure(inPrograms: 100, seed: 1) != nil
    }
    #expect(isFound)
  }
}
