// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

/// Two groups, and each job of the second group needs all jobs of the first one.
@Suite("Resumes of large plans", .timeLimit(.minutes(5)), .onOwnThread)
struct LargeResumeTests {
  /// With fewer jobs, the product of the sizes is not much more than the time for the jobs themselves.
  private static let size = max(10_000, Effort.scaled(50_000))

  private static func plan(_ command: String, hasNeeds: Bool = true) throws -> JobPlan {
    let numbers = (1...size).map { "\($0)" }.joined(separator: ", ")
    return try PastRun.plan(
      """
        first: {run: '\(command)', each: {N: [\(numbers)]}}
        second: {run: 'second', needs: [\(hasNeeds ? "first" : "")], each: {N: [\(numbers)]}}
      """)
  }

  /// Returns the history of a run whose first job has a state, and whose other jobs have succeeded or were skipped.
  private static func history(_ plan: JobPlan, first: JobOutcome.State) -> RunHistory {
    let definitions = JobDefinition.texts(of: plan)
    var records: [JournalRecord] = []
    for (index, job) in plan.jobs.enumerated() {
      let isSkipped = first == .failed && index >= size
      let state = index == 0 ? first : isSkipped ? .skipped : .succeeded
      if !isSkipped {
        records.append(
          .start(job.id, attempt: 1, files: "\(index).1", definition: definitions[index]))
      }
      let outcome = PastRun.outcome(
        state, attempts: isSkipped ? 0 : 1, origin: isSkipped ? "first[1]" : nil)
      records.append(.end(job.id, outcome, definition: definitions[index]))
    }
    return RunHistory(records)
  }

  private static let directory = RunDirectory(path: "/run")

  /// The greatest time for groups of which one needs the other: several times that of groups without needs. If each
  /// pair of jobs was examined, the time would be much more.
  private static func limit() throws -> Duration {
    let history = history(try plan("first", hasNeeds: false), first: .succeeded)
    let plan = try plan("changed", hasNeeds: false)
    return try ContinuousClock().measure {
      _ = try Resumption(plan, directory: directory, history: history)
    } * 8
  }

  @Test("RD-7: The time of a resume does not grow with the product of the sizes of groups")
  func changedGroup() throws {
    let history = Self.history(try Self.plan("first"), first: .succeeded)
    let plan = try Self.plan("changed")
    let limit = try Self.limit()
    let begin = ContinuousClock.now
    let resumption = try Resumption(plan, directory: Self.directory, history: history)
    #expect(begin.duration(to: .now) < limit)
    #expect(resumption.decisions.allSatisfy { $0 == .run(firstAttempt: 2) })
    #expect(resumption.sentences.count == 2)
    #expect(resumption.sentences.allSatisfy { $0.utf8.count < 200 })
  }

  @Test("RD-5: The time of a retry does not grow with the product of the sizes of groups")
  func retriedGroup() throws {
    let plan = try Self.plan("first")
    let history = Self.history(plan, first: .failed)
    let limit = try Self.limit()
    for ids in [["first[1]"], ["first[1]"] + plan.jobs.dropFirst(Self.size).map(\.id)] {
      let begin = ContinuousClock.now
      let resumption = try Resumption(
        plan, directory: Self.directory, history: history, retrying: ids)
      #expect(begin.duration(to: .now) < limit)
      let repeated = resumption.decisions.count { if case .run = $0 { true } else { false } }
      #expect(repeated == Self.size + 1)
    }
    #expect(throws: RunFailure.self) {
      try Resumption(
        plan, directory: Self.directory, history: history,
        retrying: plan.jobs.dropFirst(Self.size).map(\.id))
    }
  }
}
