// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("The preamble of a relay") struct RelayPreambleTests {
  @Test("The preamble is complete at its last byte, even if it arrives in pieces")
  func pieces() {
    for size in 1...RelayPreamble.bytes.count {
      var preamble = RelayPreamble()
      var rest = RelayPreamble.bytes[...]
      while rest.count > size {
        #expect(preamble.take(rest.prefix(size)) == .incomplete)
        rest = rest.dropFirst(size)
      }
      #expect(preamble.take(Array(rest) + [1, 2]) == .complete(rest.count))
      #expect(preamble.text.isEmpty)
    }
  }

  @Test("Other bytes are a text, which is reported when its first visible line is complete")
  func text() {
    var preamble = RelayPreamble()
    #expect(preamble.take(Array("\n  \nWelco".utf8)) == .incomplete)
    #expect(preamble.firstLine == ("Welco", false))
    #expect(preamble.take(Array("me to web1\nsecond".utf8)) == .text)
    #expect(preamble.firstLine == ("Welcome to web1", true))
  }

  @Test("The beginning of a preamble is a part of the text if other bytes follow")
  func falseStart() {
    var preamble = RelayPreamble()
    #expect(preamble.take(RelayPreamble.bytes.prefix(4)) == .incomplete)
    #expect(preamble.take(Array("x\n".utf8)) == .text)
    #expect(preamble.text == RelayPreamble.bytes.prefix(4) + Array("x\n".utf8))
  }

  @Test(
    "A text before the preamble is reported at once, without the preamble, even if it has no line feed",
    arguments: ["hi", "\n", "\n  \nhi", "\0opq", "Welcome\nsecond"])
  func preambleAfterText(_ text: String) {
    let bytes = Array(text.utf8) + RelayPreamble.bytes
    let line = text.split(separator: "\n").first { $0.utf8.contains { $0 > 0x20 } }
    for size in [1, 3, bytes.count] {
      var preamble = RelayPreamble()
      var (verdict, rest) = (RelayPreamble.Verdict.incomplete, bytes[...])
      while verdict == .incomplete, !rest.isEmpty {
        verdict = preamble.take(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(verdict == .text)
      #expect(preamble.firstLine == (line.map { String($0) } ?? text, true))
    }
  }

  @Test("A text without a visible character is not shown before it is over")
  func emptyLines() {
    var preamble = RelayPreamble()
    #expect(preamble.take(Array("\n \n".utf8)) == .incomplete)
    #expect(preamble.firstLine == ("", false))
    #expect(preamble.take(Array(repeating: UInt8(ascii: "\n"), count: 2_000)) == .text)
    #expect(preamble.firstLine.text.count == 1_024)
  }

  @Test("A text without an end is reported, and only its beginning is kept")
  func flood() {
    var preamble = RelayPreamble()
    var verdict = RelayPreamble.Verdict.incomplete
    for _ in 0..<100 where verdict == .incomplete {
      verdict = preamble.take(Array(repeating: UInt8(ascii: "y"), count: 100))
    }
    #expect(verdict == .text)
    #expect(preamble.text.count == 1_024)
  }
}
