// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("Definitions of jobs", .timeLimit(.minutes(5)), .onOwnThread)
struct JobDefinitionTests {
  /// Returns the definition of the job `main` of a file.
  private static func definition(_ main: String, others: String = "", head: String = "") throws
    -> String
  {
    let plan = try DirectoryScene.plan("  main: \(main)\n\(others)", head: head)
    let job = try #require(plan.jobs.first { $0.group == "main" })
    return JobDefinition.text(of: job, in: plan)
  }

  @Test("RD-7: A change of what a job does changes its definition")
  func changes() throws {
    let others = "  a: {run: x}\n  b: {run: x}"
    let variants = [
      "{run: x}", "{run: y}", "{run: x, shell: /bin/bash}", "{run: x, needs: [a]}",
      "{run: x, needs: [b]}", "{run: x, needs: [a, b]}", "{run: x, needs: [a], when: always}",
      "{run: x, needs: [a], when: failure}", "{run: x, once: true}", "{run: x, each: {N: [1]}}",
      "{run: x, each: {N: [2]}}", "{run: x, each: {M: [1]}}",
    ]
    let definitions = try variants.map { try Self.definition($0, others: others) }
    #expect(Set(definitions).count == variants.count)
    #expect(
      try Self.definition("{run: x}", others: others, head: "environment: {A: b}")
        != definitions[0])
    #expect(definitions.allSatisfy { $0.utf8.count == 16 && UInt64($0, radix: 16) != nil })
  }

  @Test("RD-7: A change of when and how often a job runs does not change its definition")
  func noChanges() throws {
    let others = "  a: {run: x}\n  b: {run: x}"
    let head = "queues: {q: {width: 2}}"
    let plain = try Self.definition("{run: x, needs: [a, b]}", others: others, head: head)
    for keys in ["queue: q", "priority: high", "timeout: 1s", "retries: 3", "grace: 1s"] {
      let text = try Self.definition("{run: x, needs: [b, a], \(keys)}", others: others, head: head)
      #expect(text == plain, "\(keys)")
    }
    // Another job or another line is no change.
    let more = "\n\n  c: {run: x}\n  a: {run: y}\n  b: {run: x, needs: [c]}"
    #expect(try Self.definition("{run: x, needs: [a, b]}", others: more, head: head) == plain)
  }

  @Test("RD-7: The number of jobs of a needed group is not a part of the definition")
  func group() throws {
    let two = try Self.definition(
      "{run: x, needs: [g]}", others: "  g: {run: x, each: {N: [1, 2]}}")
    let three = try Self.definition(
      "{run: x, needs: [g]}", others: "  g: {run: x, each: {N: [1, 2, 3]}}")
    #expect(two == three)
  }

  @Test("RD-7: All definitions of a plan are those of its jobs")
  func allJobs() throws {
    let plan = try DirectoryScene.plan(
      """
        a: {run: 'echo "$N$M"', each: {N: [1, 2], M: [x, y]}}
        b: {run: x, needs: [a]}
        c: {run: y, each: {SHARED: [2]}}
      """, head: "environment: {SHARED: 1, OTHER: '\\u0007'}")
    let each = plan.jobs.map { JobDefinition.text(of: $0, in: plan) }
    #expect(JobDefinition.texts(of: plan) == each && Set(each).count == 6)
  }

  @Test(
    "RD-7: The hash of a definition is FNV-1a, so another process computes the same one",
    arguments: [
      ("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8"),
    ])
  func hash(text: String, expected: String) {
    var hash = ShortHash()
    hash.combine(text.utf8)
    #expect(hash.text == expected)
  }

  @Test("RD-7: The definitions of the largest plan take little time", .oneAtATime)
  func largestPlan() throws {
    let count = Effort.scaled(50_000)
    let numbers = (1...count).map { "\($0)" }.joined(separator: ", ")
    let plan = try DirectoryScene.plan(
      """
        first: {run: 'true', each: {N: [\(numbers)]}}
        second: {run: 'true', needs: [first], each: {N: [\(numbers)]}}
      """)
    let begin = ContinuousClock.now
    #expect(Set(JobDefinition.texts(of: plan)).count == 2 * count)
    #expect(begin.duration(to: .now) / count < .milliseconds(2))
  }
}
