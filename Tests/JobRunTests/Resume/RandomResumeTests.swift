// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import OperationsCommands
import TestSupport
import Testing

@testable import JobRun

@Suite("Random resumes", .timeLimit(.minutes(5)), .onOwnThread)
struct RandomResumeTests {
  @Test("RD-4: The decisions about random plans and histories are those of a naive model")
  func naiveModel() throws {
    let seed = SeededGenerator.announcedSeed()
    for round in 0..<UInt64(Effort.scaled(3_000)) {
      var random = SeededGenerator(seed: seed &+ round)
      let plan = try RandomJobs(count: Int.random(in: 1...8, using: &random), &random)
        .plan(&random)
      let definitions = JobDefinition.texts(of: plan)
      let past = plan.jobs.indices.map { index in
        randomPast(of: index, plan, definitions[index], &random)
      }
      let directory = RunDirectory(path: "/run")
      var rules = ResumeRules(plan, in: directory, definitions: definitions, past: past)
      var repeated: Set<Int> = []
      if random.happens(0.3) {
        let states = rules.retryStates
        let requested = plan.jobs.indices.filter { index in
          guard case .ended(let outcome) = states[index] else { return false }
          return outcome.state == .failed || outcome.state == .cancelled
        }.filter { _ in random.happens(0.3) }
        let choice = RetryChoice(plan, states: states)
          .choice(for: requested.map { plan.jobs[$0].id })
        repeated = NaiveRetry.repeated(plan, states, requested: Set(requested))
        #expect(choice.refusals.isEmpty && Set(choice.indices) == repeated)
        rules = ResumeRules(
          plan, in: directory, definitions: definitions, past: past, choice: choice)
      }
      let naive = NaiveResume(plan, definitions, past, repeated: repeated)
      let decisions = rules.decisions(RunHistory())
      for (index, result) in rules.results.enumerated() {
        let fate = NaiveResume.Fate(
          words: Resumed.words(decisions[index]), end: result.state, isAgain: result.isAgain,
          isNew: result.isNew, isUnsettled: result.waits, mayRun: result.mayRun,
          isReopened: result.isReopened)
        guard fate == naive.fate(of: index) else {
          Issue.record(
            "OPQ_SEED=\(seed &+ round): \(plan.jobs[index].id): \(fate) and \(naive.fate(of: index))"
          )
          return
        }
      }
    }
  }

  @Test("RD-4: After any crashes and changes, each outcome belongs to the newest plan and needs")
  func crashesAndChanges() throws {
    let seed = SeededGenerator.announcedSeed()
    for round in 0..<UInt64(Effort.scaled(1_000)) {
      var simulation = try RunSimulation(seed: seed &+ round)
      do {
        try simulation.run(crashCount: 6, retries: false)
        try simulation.checkOutcomes()
      } catch {
        report(error, seed &+ round, simulation)
        return
      }
    }
  }

  @Test(
    "RD-5: After any crashes, changes and retries, the run ends, and no job runs twice unasked")
  func retries() throws {
    let seed = SeededGenerator.announcedSeed()
    for round in 0..<UInt64(Effort.scaled(1_000)) {
      var simulation = try RunSimulation(seed: seed &+ round)
      do {
        try simulation.run(crashCount: 6, retries: true)
      } catch {
        report(error, seed &+ round, simulation)
        return
      }
    }
  }

  private func report(_ error: any Error, _ seed: UInt64, _ simulation: RunSimulation) {
    let journal = simulation.records.map(\.line).joined()
    Issue.record("OPQ_SEED=\(seed): \(error)\n\(simulation.plan.text)\(journal)")
  }

  private func randomPast(
    of index: Int, _ plan: JobPlan, _ definition: String, _ random: inout SeededGenerator
  ) -> PastJob {
    var past = PastJob()
    past.definition =
      [nil, definition, definition, definition, "0"].randomElement(using: &random)
      ?? nil
    past.attemptCount = Int.random(in: 0...3, using: &random)
    past.hasEnded = random.happens(0.5)
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2:
      past.failedAttemptCount = Int.random(in: 0...past.attemptCount, using: &random)
    case 3...4:
      past.attemptCount += 1
      past.failedAttemptCount = Int.random(in: 0..<past.attemptCount, using: &random)
      let findings: [ShimFinding] = [
        .alive(PastRun.shim), .ended(status: 0), .ended(status: 7), .lost, .unknown("unknown"),
        .orphaned(PastRun.process),
      ]
      past.progress = .started(findings.randomElement(using: &random) ?? .lost)
      if random.happens(0.2) { past.progress = .submitted(PastRun.submission) }
    default:
      let state = JobOutcome.State.allCases.randomElement(using: &random) ?? .failed
      if state == .succeeded || state == .failed { past.attemptCount += 1 }
      let origins = plan.jobs[index].needs.joined().map { plan.jobs[$0].id } + ["removed"]
      let origin =
        state == .skipped && random.happens(0.7) ? origins.randomElement(using: &random) : nil
      past.progress = .ended(
        PastRun.outcome(state, attempts: past.attemptCount, origin: origin))
      let isSkippedOrCancelled = state == .skipped || state == .cancelled
      past.isByRun = isSkippedOrCancelled && random.happens(0.2)
      if !past.isByRun { past.hasEnded = true }
      past.waits = state == .failed && plan.jobs[index].isOnce && random.happens(0.3)
    }
    return past
  }
}
