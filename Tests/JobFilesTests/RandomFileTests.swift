// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import TestSupport
import Testing

/// Reads random files.
@Suite struct RandomFileTests {
  private static let words = [
    "jobs", "queues", "defaults", "environment", "run", "needs", "each", "queue", "retries",
    "timeout", "when",
    "a", "b", "N", "'a[$N]'", "$N", "${", "5s", "1", "true", ":", ": ", "\n", "\n  ", "\n    ", "{",
    "}", "[", "]",
    ",", "- ", "? ", "'", "\"", "\\u", "|", ">", "#", "&x ", "*x ", "<<: ", "!!int ", "%", "---\n",
    "...\n", "\t",
    "\r", "\u{0}", "\u{85}", "\u{202E}", "😀", "é",
  ]

  private func check(_ bytes: [UInt8]) {
    for name in ["a.yaml", "a.json"] {
      do {
        let plan = try JobPlan(file: bytes, name: name, processorCount: 2)
        #expect(plan.text.utf8.count { $0 == UInt8(ascii: "\n") } == plan.jobs.count)
        #expect(!plan.jsonLine.isEmpty)
      } catch {
        #expect(error.line >= 1)
        #expect(error.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
      }
    }
    _ = try? JobPlan(lines: bytes, name: "a", processorCount: 2)
  }

  @Test("JF-22: random words are a plan or a mistake")
  func randomWords() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<3_000 {
      let count = Int.random(in: 0..<40, using: &generator)
      var text = ""
      for _ in 0..<count { text += Self.words.randomElement(using: &generator) ?? "" }
      check(Array(text.utf8))
    }
  }

  @Test("JF-22: the example with random changes is a plan or a mistake")
  func changedExample() {
    var generator = SeededGenerator(seed: 2)
    for round in 0..<1_000 {
      var bytes = Array(Reading.example.utf8)
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        let start = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, start + Int.random(in: 0..<6, using: &generator))
        let word =
          round % 4 == 0
          ? [UInt8.random(in: 0...255, using: &generator)]
          : Array((Self.words.randomElement(using: &generator) ?? "").utf8)
        bytes.replaceSubrange(start..<end, with: word)
      }
      check(bytes)
    }
  }
}
