// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobFiles
import Testing

@Suite struct LineTests {
  @Test("JF-17: each line is a job without needs in the queue default")
  func lines() throws {
    let plan = try Reading.lines("echo a\n\n  # comment\n  \necho $B | cat\r\nlast")
    #expect(plan.ids == ["line-1", "line-5", "line-6"])
    #expect(plan.jobs.map(\.command) == ["echo a", "echo $B | cat", "last"])
    #expect(plan.jobs.map(\.line) == [1, 5, 6])
    #expect(plan.jobs.allSatisfy { $0.needs.isEmpty && $0.queue == "default" })
    #expect(plan.queues.map(\.name) == ["default"])
    #expect(plan.queues.map(\.width) == [6])
    #expect(plan.environment.isEmpty)
  }

  @Test("JF-17: a file without commands is a plan without jobs", arguments: ["", "\n", "# a\n"])
  func noLines(text: String) throws {
    let plan = try Reading.lines(text)
    #expect(plan.jobs.isEmpty)
    #expect(plan.text.isEmpty)
  }

  @Test("JF-9, JF-17: a file of plain lines has at most 100,000 commands")
  func mostLines() throws {
    let text = String(repeating: "x\n", count: 100_000)
    #expect(try Reading.lines(text).jobs.count == 100_000)
    #expect(throws: JobFileError.self) { try Reading.lines(text + "y") }
    do {
      _ = try Reading.lines(text + "y")
    } catch {
      #expect("\(error)" == "commands.txt:100001: the file has more than 100,000 jobs")
    }
  }

  @Test("JF-14, JF-17: a null character in a command is refused with the line")
  func nullCharacter() {
    do {
      _ = try Reading.lines("a\nb\u{0}")
      Issue.record("no mistake")
    } catch {
      #expect("\(error)" == "commands.txt:2: the command has a null character")
    }
  }
}
