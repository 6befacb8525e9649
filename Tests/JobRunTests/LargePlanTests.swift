// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("Large plans", .timeLimit(.minutes(5)), .onOwnThread)
struct LargePlanTests {
  @Test("JR-13: Many jobs run, and jobs without output leave no logs", .oneAtATime)
  func manyJobs() throws {
    let scene = try RunScene()
    let count = Effort.scaled(10_000)
    let lines = String(repeating: "true\n", count: count)
    var plan = try JobPlan(lines: Array(lines.utf8), name: "lines", processorCount: 2)
    plan.setWidths(2)
    let run = try scene.run(plan)
    let begin = ContinuousClock.now
    run.start()
    run.waitForEnd()
    let each = begin.duration(to: .now) / count
    #expect(run.run.counts.text == "\(count) jobs: \(count) succeeded")
    #expect(run.events.count == 2 * count)
    // The limit for an idle machine is 5 ms.
    #expect(each < .milliseconds(50))
    run.run.deleteUselessFiles()
    #expect(RunScene.names(in: run.run.directory.jobs).allSatisfy { $0.hasSuffix(".status") })
  }

  @Test("RD-5: The time to find a job by its id does not depend on the number of jobs")
  func jobsAreFound() throws {
    let scene = try RunScene()
    let count = 20_000
    let lines = String(repeating: "true\n", count: count)
    let plan = try JobPlan(lines: Array(lines.utf8), name: "lines", processorCount: 2)
    let run = try scene.run(plan).run
    let begin = ContinuousClock.now
    let areFound = plan.jobs.indices.allSatisfy { run.index(ofJob: plan.jobs[$0].id) == $0 }
    // A search from the first job on compares 200,000,000 ids.
    #expect(begin.duration(to: .now) < .seconds(3))
    #expect(areFound && run.index(ofJob: "line-0") == nil)
  }

  @Test("JR-13: The largest plan is connected without the product of its groups")
  func largestPlan() throws {
    let scene = try RunScene()
    // Each job of the second group needs all jobs of the first group. No job of the groups starts. With the gate, the
    // file has at most 100,000 jobs.
    let numbers = (1...Effort.scaled(49_999)).map { "\($0)" }.joined(separator: ", ")
    let plan = try scene.plan(
      """
        gate: {run: 'exit 1'}
        first: {run: 'true', needs: [gate], each: {N: [\(numbers)]}}
        second: {run: 'true', needs: [first], each: {N: [\(numbers)]}}
      """)
    let run = try scene.run(plan)
    run.start()
    run.waitForEnd()
    #expect(run.run.counts.counts[.skipped] == plan.jobs.count - 1)
    #expect(run.run.outcomes.dropFirst().allSatisfy { $0?.origin == "gate" })
  }
}
