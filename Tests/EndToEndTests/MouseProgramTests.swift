// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Tests of the program with the mouse, on a terminal.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct MouseProgramTests {
  private func start(columns: Int = 80, rows: Int = 24, names count: Int) throws
    -> (PseudoTerminal, NamesFile)
  {
    let file = try NamesFile((1...count).map { "name \($0)" })
    let window = try PseudoTerminal(columns: columns, rows: rows)
    try window.start(NamesFile.program, [file.path, "mouse"])
    #expect(
      window.wait { $0.contains("total") && !$0.isBlank(row: rows - 1) && $0.isMouseReported })
    return (window, file)
  }

  private func click(row: Int, column: Int, in window: PseudoTerminal) {
    let place = "\(column + 1);\(row + 1)"
    window.type("\u{1B}[<0;\(place)M\u{1B}[<0;\(place)m")
  }

  @Test(
    "T50: The mouse is off after each end of the program",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT])
  func off(signal: Int32) throws {
    let (window, _) = try start(names: 3)
    window.signal(signal)
    #expect(window.waitForEnd() == .signal(signal))
    #expect(window.screen.isMouseOff && !window.screen.isAlternate)
  }

  @Test(
    "T50: The mouse is off while the program is stopped, and on again after it",
    arguments: [true, false])
  func stop(isByKey: Bool) throws {
    let (window, _) = try start(names: 3)
    if isByKey { window.type("\u{1A}") } else { window.signal(SIGTSTP) }
    try #require(window.waitForStop())
    #expect(window.screen.isMouseOff)
    window.signal(SIGCONT)
    #expect(window.wait { $0.isAlternate && $0.contains("total") && $0.isMouseReported })
    window.type("q")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.isMouseOff)
  }

  @Test("T51: A click in column 250 selects its row, and a report in pieces does too")
  func farColumn() throws {
    let (window, _) = try start(columns: 300, rows: 30, names: 12)
    window.type("\t\t\t\tG")
    func row(_ id: String) -> Int? {
      // The row of an event has its time and the id of its operation first.
      window.screen.lines.lastIndex {
        $0.drop { "▌ ".contains($0) }.split(separator: " ").dropFirst().first == id[...]
          && $0.contains(":")
      }
    }
    #expect(window.wait { $0.contains("following") && row("#105") != nil })
    let row105 = try #require(row("#105"))
    click(row: row105, column: 250, in: window)
    #expect(window.waitForSelection(of: "#105 "))
    let row103 = try #require(row("#103"))
    for byte in Array("\u{1B}[<0;251;\(row103 + 1)M".utf8) {
      window.type(bytes: [byte])
      window.absorb(for: .milliseconds(2))
    }
    #expect(window.waitForSelection(of: "#103 "))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T51: Malformed reports change nothing")
  func malformed() throws {
    let (window, _) = try start(names: 20)
    window.type("g")
    #expect(window.waitForSelection(of: "#103 "))
    for report in ["<0;5M", "<0;;M", "<0;999999999;8M", "<0;5;999999999M", "<3;5;9M", "<32;5;9M"] {
      window.type("\u{1B}[\(report)")
    }
    window.type("j")
    #expect(window.waitForSelection(of: "#104 "))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("MS-8: A click in the footer quits the program")
  func footer() throws {
    let (window, _) = try start(names: 3)
    let line = window.screen.lines[23]
    let start = try #require(line.range(of: "q Quit"))
    click(row: 23, column: line.distance(from: line.startIndex, to: start.lowerBound), in: window)
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.isMouseOff)
  }

  @Test("MS-5, MS-10: A click and a step of the wheel select a row in opq-top with --mouse")
  func program() throws {
    let window = try BuiltProgram.start(["demo", "tiles", "--mouse", "--view", "queues"])
    func row(of queue: String) -> Int? {
      window.screen.lines.firstIndex { $0.dropFirst(2).hasPrefix("\(queue) ") }
    }
    #expect(window.wait { _ in row(of: "index") != nil && window.screen.isMouseReported })
    let last = try #require(row(of: "index"))
    click(row: last, column: 30, in: window)
    #expect(window.waitForSelection(of: "index "))
    window.type("\u{1B}[<64;31;\(last + 1)M")
    #expect(window.waitForSelection(of: "cpu "))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.isMouseOff)
  }
}
