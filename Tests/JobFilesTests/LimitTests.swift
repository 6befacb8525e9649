// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@Suite struct LimitTests {
  private func values(_ count: Int) -> String {
    "[" + (0..<count).map(String.init).joined(separator: ", ") + "]"
  }

  @Test(
    "JF-8: anchors and aliases are refused",
    arguments: [
      "a: &x 1", "jobs: &x {a: {run: x}}", "jobs:\n  a: {run: x, needs: *x}", "&x a: 1",
      "a: [&x b, *x]",
      "? *x\n: 1", "? [&x a]\n: 1",
    ])
  func anchors(text: String) {
    #expect(
      Reading.mistake(text).hasSuffix("a job file cannot have anchors and aliases"), "\(text)")
  }

  @Test("JF-8: an asterisk and an ampersand in a command are no anchor and no alias")
  func asterisks() throws {
    let plan = try Reading.plan(
      """
      jobs:
        a: {run: "rm *a &b"}
        b:
          run: |
            *a && &b
            echo *b
        c: {run: echo *a &b}
        d: {run: '*a'}  # *comment
      """)
    #expect(plan.jobs.map(\.command) == ["rm *a &b", "*a && &b\necho *b\n", "echo *a &b", "*a"])
  }

  @Test(
    "JF-8: aliases that would expand to 10^9 nodes are refused quickly", arguments: [false, true])
  func bomb(isKey: Bool) {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1..<9 {
      let alias = "*a\(level - 1)"
      text +=
        "a\(level): &a\(level) [\(Array(repeating: alias, count: 10).joined(separator: ", "))]\n"
    }
    text += isKey ? "? *a8\n: x\n" : "jobs: *a8\n"
    let duration = ContinuousClock().measure {
      #expect(Reading.mistake(text) == "jobs.yaml:1: a job file cannot have anchors and aliases")
    }
    #expect(duration < .seconds(5))
  }

  @Test("JF-9: a file can have 100,000 jobs")
  func mostJobs() throws {
    let plan = try Reading.plan(
      "jobs: {a: {run: x, each: {N: \(values(333)), M: \(values(300))}}, b: {run: x, each: {N: \(values(100))}}}"
    )
    #expect(plan.jobs.count == 100_000)
    #expect(plan.ids.last == "b[99]")
  }

  @Test("JF-9: more than 100,000 jobs are refused before they are created")
  func tooManyJobs() {
    let message = "jobs.yaml:2: the file has more than 100,000 jobs"
    #expect(
      Reading.mistake(
        "jobs:\n  a: {run: x, each: {N: \(values(10)), M: \(values(10_000))}}\n  b: {run: x}")
        == "jobs.yaml:3: the file has more than 100,000 jobs")
    #expect(Reading.mistake("jobs:\n  a: {run: x, each: {N: \(values(100_001))}}") == message)
    let variables = (0..<60).map { "V\($0): \(values(10))" }.joined(separator: ", ")
    #expect(Reading.mistake("jobs:\n  a: {run: x, each: {\(variables)}}") == message)
  }

  @Test("JF-9: more than 10,000,000 needs are refused before they are created")
  func tooManyNeeds() {
    let needs = Array(repeating: "a", count: 101).joined(separator: ", ")
    #expect(
      Reading.mistake(
        "jobs:\n  a: {run: x}\n  b: {run: x, needs: [\(needs)], each: {N: \(values(300)), M: \(values(331))}}"
      )
        == "jobs.yaml:3: the jobs of the file have more than 10,000,000 needs")
  }

  @Test("JF-9: the values of each cannot make a name of more than 1,000 bytes")
  func longNames() {
    let variables = (0..<20).map { "V\($0): [\(String(repeating: "v", count: 60))]" }
    #expect(
      Reading.mistake("jobs: {a: {run: x, each: {\(variables.joined(separator: ", "))}}}")
        == #"jobs.yaml:1: the job "a" with its values has a name of more than 1,000 bytes"#)
  }

  /// Returns a file in which each job needs the one that follows it in the file.
  private func chain(_ count: Int, last: String) -> String {
    var text = "jobs:\n"
    for index in 0..<count - 1 { text += "  j\(index): {run: x, needs: [j\(index + 1)]}\n" }
    return text + "  j\(count - 1): {run: x\(last)}\n"
  }

  @Test("JF-9: a chain of 100,000 needs is planned without recursion")
  func deepChain() throws {
    let plan = try Reading.plan(chain(100_000, last: ""))
    #expect(plan.text.hasPrefix("j99999 "))
    #expect(try plan.until(["j0"]).jobs.count == 100_000)
  }

  @Test("JF-12: the path of a cycle of 50,000 jobs is shortened")
  func longCycle() {
    #expect(
      Reading.mistake(chain(50_000, last: ", needs: [j0]"))
        == "jobs.yaml:2: the needs form a cycle: j0 -> j1 -> j2 -> j3 -> j4 -> j5 -> j6 -> j7 -> j8 -> j9 -> "
        + "... (49990 more) -> j0")
  }

  @Test("JF-4, JF-12: the search for cycles does not visit each pair of two groups of 50,000 jobs")
  func largeGroups() throws {
    let list = "{N: \(values(500)), M: \(values(100))}"
    let plan = try Reading.plan(
      "jobs: {b: {run: x, needs: [a], each: \(list)}, a: {run: x, each: \(list)}}")
    #expect(plan.jobs.count == 100_000)
    #expect(plan.text.hasPrefix("a[0,0] "))
  }

  @Test(
    "JF-22: lists that contain each other are refused at a depth", arguments: [100, 900, 100_000])
  func depth(count: Int) {
    let text = String(repeating: "[", count: count)
    #expect(Reading.mistake(text + String(repeating: "]", count: count)) != "no mistake")
    #expect(
      Reading.mistake(text, name: "a.json")
        == "a.json:1: more than 64 lists and mappings contain each other")
  }

  @Test("JF-15: lists that contain each other are refused with a sentence")
  func depthMessage() {
    #expect(
      Reading.mistake(String(repeating: "[", count: 100) + String(repeating: "]", count: 100))
        == "jobs.yaml:1: more than 64 lists and mappings contain each other")
  }
}
