// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

@testable import JobRun

@Suite("Ends that other threads note", .timeLimit(.minutes(5)), .onOwnThread)
struct StaleFactsTests {
  @Test("RD-1: The facts about a job that ends while another thread looks at it are the last ones")
  func endsAreNotedByOtherThreads() throws {
    let scene = try RunScene()
    let count = Effort.scaled(3_000)
    let lines = String(repeating: "true\n", count: count)
    var plan = try JobPlan(lines: Array(lines.utf8), name: "lines", processorCount: 2)
    plan.setWidths(2)
    let run = try scene.run(plan)
    run.start()
    // More threads than processors, so that threads are stopped at any moment, and jobs end meanwhile.
    let isOver = Monitored(false)
    startThread { [jobs = run.run] in
      onThreads(4) { _ in
        while !isOver.value {
          let ended = jobs.counts.total
          for index in ended..<min(ended + 3, count) { jobs.noteEnd(of: index) }
        }
      }
    }
    run.waitForEnd()
    isOver.change { $0 = true }
    #expect(run.run.outcomes.allSatisfy { $0?.attemptCount == 1 && $0?.duration != nil })
  }
}
