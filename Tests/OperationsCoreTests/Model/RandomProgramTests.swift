// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import RandomPrograms
import TestSupport
import Testing

@Suite("Random programs against the model", .oneAtATime)
struct RandomProgramTests {
  @Test("6,000 programs, step by step, match the rules after each step")
  func stepByStep() async throws {
    let seed = SeededGenerator.announcedSeed()
    let finding = try await onOwnThread(within: .seconds(1_200)) {
      Examination(title: "A program that breaks the rules", check: LockStepRun().discrepancy)
        .finding(inPrograms: Effort.scaled(6_000), seed: seed)
    }
    if let finding { Issue.record("\(finding)") }
  }

  @Test("4,000 programs, several threads at once: nothing is lost, runs twice or stays")
  func atOnce() async throws {
    let seed = SeededGenerator.announcedSeed()
    let finding = try await onOwnThread(within: .seconds(1_200)) {
      Examination(title: "A program that breaks the rules", check: FreeRun().discrepancy)
        .finding(inPrograms: Effort.scaled(4_000), seed: seed)
    }
    if let finding { Issue.record("\(finding)") }
  }
}
