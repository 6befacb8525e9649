// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@Suite struct PlanTests {
  private func plan() throws -> JobPlan { try Reading.plan(Reading.example) }

  @Test("JF-1: a plan has the jobs of the example in the order of the file")
  func jobsInOrder() throws {
    #expect(
      try plan().ids == [
        "fetch", "align[1]", "align[2]", "align[3]", "polish[1]", "polish[2]", "polish[3]", "merge",
        "deploy", "notify",
      ])
  }

  @Test("JF-1: a plan has the queues of the example with widths and rates")
  func queuesInOrder() throws {
    let queues = try plan().queues
    #expect(queues.map(\.name) == ["cpu", "net"])
    #expect(queues.map(\.width) == [2, 8])
    #expect(queues.map(\.startsPerSecond) == [nil, 5])
  }

  @Test("JF-1: a job has the values of its keys")
  func valuesOfKeys() throws {
    let fetch = try #require(try plan().job("fetch"))
    #expect(fetch.command == #"mkdir -p "$OUT"; seq 9 > "$OUT/all""#)
    #expect(fetch.queue == "net")
    #expect(fetch.retries == 3)
    #expect(fetch.retryPause == .seconds(2))
    #expect(fetch.timeout == .seconds(300))
    #expect(fetch.line == 5)
    #expect(try plan().job("merge")?.priority == .high)
    #expect(try plan().job("deploy")?.isOnce == true)
    #expect(try plan().job("notify")?.condition == .always)
  }

  @Test("JF-1, JF-5: a job without other keys than run has the documented defaults")
  func defaultValues() throws {
    let plan = try Reading.plan("jobs: {a: {run: x}}")
    let job = try #require(plan.jobs.first)
    #expect(job.queue == "default")
    #expect(job.priority == .normal && job.condition == .success && !job.isOnce)
    #expect(job.timeout == nil && job.retries == 0 && job.retryPause == .seconds(1))
    #expect(job.grace == .seconds(10) && job.shell == "/bin/sh")
    #expect(plan.queues.map(\.name) == ["default"])
    #expect(plan.queues.map(\.width) == [6])
  }

  @Test("JF-5: a queue without a width has the number of processors as its width")
  func widthOfQueue() throws {
    let plan = try Reading.plan(
      "queues: {net: {rate: 1}, default: {width: 3}}\njobs: {a: {run: x}}")
    #expect(plan.queues.map(\.name) == ["net", "default"])
    #expect(plan.queues.map(\.width) == [6, 3])
  }

  @Test("JF-6: a key of a job takes precedence over the defaults of the file")
  func defaultsOfFile() throws {
    let plan = try Reading.plan(
      """
      queues: {net: {}}
      defaults: {queue: net, priority: low, timeout: 1m, retries: 2, retry-pause: 3s, grace: 4s, shell: bash}
      jobs:
        a: {run: x}
        b: {run: x, queue: default, priority: very-high, timeout: 5s, retries: 0, retry-pause: 0s, grace: 0s, shell: sh}
      """)
    let a = try #require(plan.job("a"))
    #expect(a.queue == "net" && a.priority == .low && a.timeout == .seconds(60))
    #expect(a.retries == 2 && a.retryPause == .seconds(3))
    #expect(a.grace == .seconds(4) && a.shell == "bash")
    let b = try #require(plan.job("b"))
    #expect(b.queue == "default" && b.priority == .veryHigh && b.timeout == .seconds(5))
    #expect(b.retries == 0 && b.retryPause == .zero && b.grace == .zero && b.shell == "sh")
  }

  @Test("JF-6: each takes precedence over environment")
  func eachOverEnvironment() throws {
    let plan = try Reading.plan(
      "environment: {A: 1, B: 2}\njobs: {a: {run: x, each: {A: [3]}}, b: {run: x}}")
    #expect(plan.environment(of: plan.jobs[0]) == ["A": "3", "B": "2"])
    #expect(plan.environment(of: plan.jobs[1]) == ["A": "1", "B": "2"])
  }

  @Test("JF-2: the values of the last variable change first")
  func productOfTwo() throws {
    let plan = try Reading.plan("jobs: {a: {run: x, each: {N: [2, 1], M: [b, a]}}}")
    #expect(plan.ids == ["a[2,b]", "a[2,a]", "a[1,b]", "a[1,a]"])
    #expect(plan.jobs.map(\.group) == ["a", "a", "a", "a"])
    #expect(plan.jobs[1].variables.map(\.name) == ["N", "M"])
    #expect(plan.jobs[1].variables.map(\.value) == ["2", "a"])
  }

  @Test("JF-2: three variables make the product of their values")
  func productOfThree() throws {
    let plan = try Reading.plan("jobs: {a: {run: x, each: {A: [1, 2], B: [x], C: [p, q, r]}}}")
    #expect(
      plan.ids == ["a[1,x,p]", "a[1,x,q]", "a[1,x,r]", "a[2,x,p]", "a[2,x,q]", "a[2,x,r]"])
  }

  @Test("JF-3: a variable in a need becomes the value of the job")
  func variableInNeed() throws {
    #expect(try plan().needs("polish[2]") == [["align[2]"]])
  }

  @Test("JF-3: a variable in braces can be followed by a letter, and can be the name of a job")
  func variableInBraces() throws {
    let plan = try Reading.plan(
      "jobs: {a1x: {run: x}, b: {run: x, needs: ['a${N}x', $J, 'c[$N,$J]'], each: {N: [1], J: [a1x]}}, "
        + "c: {run: x, each: {N: [1], J: [a1x]}}}")
    #expect(plan.needs("b[1,a1x]") == [["a1x"], ["c[1,a1x]"]])
  }

  @Test("JF-4: a need without brackets means all jobs of the name")
  func needForGroup() throws {
    #expect(try plan().needs("merge") == [["polish[1]", "polish[2]", "polish[3]"]])
    #expect(try plan().needs("align[3]") == [["fetch"]])
  }

  @Test("JF-4: a need for 1,000 jobs by 1,000 jobs is one range for each job")
  func needForLargeGroup() throws {
    let values = (0..<1_000).map(String.init).joined(separator: ", ")
    let plan = try Reading.plan(
      "jobs: {a: {run: x, each: {N: [\(values)]}}, b: {run: x, needs: [a], each: {N: [\(values)]}}}"
    )
    #expect(plan.jobs.suffix(1_000).allSatisfy { $0.needs == [0..<1_000] })
    #expect(plan.text.utf8.count < 60_000)
  }

  @Test("JF-4: two needs for the same job are one need")
  func equalNeeds() throws {
    let plan = try Reading.plan(
      "jobs: {a: {run: x, each: {N: [1]}}, b: {run: x, needs: [a, 'a[1]', a]}}")
    #expect(plan.needs("b") == [["a[1]"]])
  }

  @Test("JF-7: values of environment and each are texts as they are written")
  func textsAsWritten() throws {
    let plan = try Reading.plan(
      """
      environment: {A: no, B: 012, C: 1e3, D: "yes", E: ~, F: , G: 0x1F, H: 1_000, I: 2001-01-01, J: .5}
      jobs: {a: {run: true, each: {V: [no, 012, 1e3, null, '']}}}
      """)
    #expect(
      plan.environment.map(\.value) == [
        "no", "012", "1e3", "yes", "~", "", "0x1F", "1_000", "2001-01-01", ".5",
      ])
    #expect(plan.ids == ["a[no]", "a[012]", "a[1e3]", "a[null]", "a[]"])
    #expect(plan.jobs[0].command == "true")
  }

  @Test("JF-1: the width of all queues can be replaced")
  func widths() throws {
    var plan = try plan()
    plan.setWidths(5)
    #expect(plan.queues.map(\.width) == [5, 5])
    plan.setWidths(0)
    #expect(plan.queues.map(\.width) == [1, 1])
  }
}
