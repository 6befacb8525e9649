// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import OperationsCommands

import Operations
import Testing

@Suite("The messages of work in another process")
struct RemoteMessageTests {
  @Test(
    "RW-6: A message is the same after it was a line",
    arguments: [
      RemoteMessage.progress(completed: 3, total: 10), .progress(completed: 0, total: 0),
      .status(""), .status("a  b"), .status("back\\slash \\n\nnext\r"), .log(.critical, ""),
      .log(.trace, " 1 two\n"),
    ])
  func messagesAreSame(message: RemoteMessage) {
    #expect(!message.line.contains { $0.isNewline })
    #expect(RemoteMessage(line: message.line) == message)
  }

  @Test(
    "RW-6: A damaged line is not a message",
    arguments: ["", "p", "p 1", "p 1 x", "l 9 text", "l", "l x", "x 1", "23 text"])
  func damagedLinesAreIgnored(line: String) {
    #expect(RemoteMessage(line: line) == nil)
  }

  @Test("RW-6: A long text is cut, and remains one message")
  func longTextIsCut() {
    let line = RemoteMessage.status(String(repeating: "\n", count: 100_000)).line
    #expect(line.utf8.count < 1 << 12)
    #expect(RemoteMessage(line: line) == .status(String(repeating: "\n", count: 1_000)))
  }

  @Test("RW-6: Only changes are sent, with the progress at the end")
  func changesAreSent() {
    var sent = SentReports()
    #expect(sent.messages(progress: nil, status: nil, lines: []).isEmpty)
    #expect(
      sent.messages(progress: (1, 2), status: "one", lines: [])
        == [.status("one"), .progress(completed: 1, total: 2)])
    #expect(sent.messages(progress: (1, 2), status: "one", lines: []).isEmpty)
    #expect(
      sent.messages(progress: (2, 2), status: "one", lines: [])
        == [.progress(completed: 2, total: 2)])
    #expect(sent.messages(progress: (2, 2), status: nil, lines: []) == [.status("")])
  }

  @Test("RW-4: The last ten visible lines are kept, without a stack trace")
  func lastLinesAreKept() {
    let lines = LastLines()
    for number in 1...12 { lines.note("line \(number)") }
    lines.note("  ")
    lines.note(String(repeating: "x", count: 1_000))
    lines.note("Current stack trace:")
    lines.note("0    libswiftCore.so    0x00007f88c27f88ec <unavailable> + 1087724")
    #expect(lines.lines.count == 10)
    #expect(lines.lines.first == "line 4")
    #expect(lines.lines.last?.unicodeScalars.count == 200)
  }

  @Test("RW-12: The name of a type contains no address")
  func namesAreStable() {
    #expect(
      ServedTypes.stableName("main.(unknown context at $55842e55e5d0).Outer<main.Work>.Inner")
        == "main.Outer<main.Work>.Inner")
  }
}
