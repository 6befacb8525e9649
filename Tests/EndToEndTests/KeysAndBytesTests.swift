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

/// Tests of how the program handles keys, and of the number of bytes that it writes to the
/// terminal.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct KeysAndBytesTests {
  private func start(_ count: Int, _ arguments: [String] = []) throws -> (PseudoTerminal, NamesFile)
  {
    let file = try NamesFile((1...count).map { "name \($0)" })
    let window = try PseudoTerminal(columns: 120, rows: 40)
    try window.start(NamesFile.program, [file.path] + arguments)
    #expect(window.wait { $0.contains("total") && !$0.isBlank(row: 39) })
    return (window, file)
  }

  @Test("T39: ESC alone closes, and the beginning of an arrow key does not")
  func escapeAlone() throws {
    let (window, _) = try start(20)
    window.type("?")
    #expect(window.wait { $0.contains("tag row, and move down") })
    window.type("\u{1B}")
    #expect(window.wait { !$0.contains("tag row, and move down") })
    window.type("g\u{1B}[B\u{1B}OB")
    #expect(window.wait { $0.lines.contains { $0.hasPrefix("▌") && $0.contains("#105 ") } })
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T52: y sends the selected line to the terminal's clipboard")
  func copying() throws {
    let (window, _) = try start(20)
    window.type("g")
    #expect(window.waitForSelection(of: "#103 "))
    window.type("y")
    #expect(window.wait { $0.contains("sent to the terminal's clipboard: #103 ") })
    #expect(window.screen.copiedTexts.count == 1)
    let text = window.screen.copiedTexts.first.flatMap { Data(base64Encoded: $0) }
    #expect(String(decoding: text ?? Data(), as: UTF8.self).hasPrefix("#103  "))
    #expect(window.screen.unknownSequences == [])
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T42: Without --mouse, reports of the mouse have no effect, and the mouse is off")
  func mouseOff() throws {
    let (window, _) = try start(20)
    window.type("g")
    #expect(window.waitForSelection(of: "#103 "))
    for row in 1...40 {
      window.type("\u{1B}[<0;10;\(row)M\u{1B}[<65;10;\(row)M\u{1B}[<0;10;\(row)m")
    }
    window.type("j")
    #expect(window.waitForSelection(of: "#104 "))
    #expect(window.screen.isMouseOff)
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T43: the filter accepts any character, and ignores incomplete characters")
  func theFilterTakesAnyCharacter() throws {
    let (window, _) = try start(5)
    window.type("\\né漢")
    #expect(window.wait { $0.contains("né漢") })
    window.type(bytes: [0xE6, 0xBC])
    // The terminal has received only a part of a character. The program waits only a limited time
    // for the other bytes.
    window.absorb(for: .milliseconds(60))
    window.type("z")
    #expect(window.wait { $0.contains("né漢z") })
    window.type("\u{1B}Q")
    window.absorb(for: .milliseconds(60))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T44: 500 keys in a row all have an effect, cost little, and share frames")
  func manyKeysAreTaken() throws {
    let (window, _) = try start(65)
    window.type("g")
    window.absorb(for: .milliseconds(100))
    let bytes = window.byteCount
    let before = try #require(window.processorTime)
    // Moves the selection 60 rows down, and then 220 times up and down.
    window.type(String(repeating: "j", count: 60))
    for _ in 0..<220 { window.type("kj") }
    #expect(window.wait { $0.lines.contains { $0.hasPrefix("▌") && $0.contains("#163 ") } })
    window.absorb(for: .milliseconds(100))
    #expect(window.screen.lines.contains { $0.hasPrefix("▌") && $0.contains("#163 ") })
    let spent = try #require(window.processorTime) - before
    // The test measures the processor time of the program, which does not depend on the load of the
    // machine. A single key may take 50 ms. In this long series, the average must be below 10 ms.
    #expect(spent / 500 < .milliseconds(10), "\(spent / 500) a key")
    #expect((window.byteCount - bytes) / 500 < 2_000)
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T44: A key that is held down, 500 times a second, is answered within 50 ms in the median")
  func aHeldKeyIsAnswered() throws {
    let (window, _) = try start(30)
    window.type("g")
    #expect(window.wait { $0.lines.contains { $0.hasPrefix("▌") && $0.contains("#103 ") } })
    // Other programs use the processors too. The test measures again if they delayed most answers.
    var latencies: [Duration] = []
    for _ in 0..<4 {
      latencies = latenciesOfAHeldKey(window)
      if latencies.sorted()[15] < .milliseconds(50) { break }
    }
    #expect(latencies.sorted()[15] < .milliseconds(50), "\(latencies)")
    #expect(latencies.allSatisfy { $0 < .seconds(2) }, "\(latencies)")
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  /// Returns 30 latencies. A latency is the time from the last of ten keys until the effect of the keys is on
  /// the screen.
  private func latenciesOfAHeldKey(_ window: PseudoTerminal) -> [Duration] {
    (0..<30).map { round in
      let key = round % 2 == 0 ? "j" : "k"
      for _ in 0..<9 {
        window.type(key)
        window.absorb(for: .milliseconds(2))
      }
      window.type(key)
      let start = ContinuousClock.now
      let row = round % 2 == 0 ? "#113 " : "#103 "
      let isAnswered = window.wait { screen in
        screen.lines.contains { $0.hasPrefix("▌") && $0.contains(row) }
      }
      #expect(isAnswered, "round \(round)")
      return start.duration(to: .now)
    }
  }

  @Test("T48: a busy second at four frames takes less than 40 kB at 120x40")
  func aBusySecondIsSmall() throws {
    let window = try BuiltProgram.start(columns: 120, rows: 40, ["--speed", "4"])
    // Pressing `[` twice lowers the refresh rate from 30 per second to 10 and then to 4.
    window.type("[[")
    #expect(window.wait { $0.contains("LIVE 4/s") }, "\(window.screen.lines[0])")
    window.absorb(for: .milliseconds(700))
    let before = window.byteCount
    let seconds = Effort.percent >= 100 ? 5 : 2
    window.absorb(for: .seconds(seconds))
    let rate = (window.byteCount - before) / seconds
    #expect(rate < 40_000, "\(rate) a second")
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T49: the screen is as before, and with --keep the last frame stays", arguments: [false, true])
  func theLastFrameIsKept(isKept: Bool) throws {
    let window = try PseudoTerminal()
    let option = isKept ? "--keep" : ""
    try window.start(
      "/bin/sh", ["-c", "echo before; '\(BuiltProgram.path)' \(option); echo after; read line"])
    #expect(window.wait { $0.isAlternate && $0.contains("total") && !$0.isBlank(row: 23) })
    window.type("p")
    #expect(window.wait { $0.contains("PAUSED") })
    let shown = window.screen.line(2)
    window.keepTranscript()
    window.type("Q")
    #expect(window.wait { $0.contains("after") })
    let text = String(decoding: window.transcript ?? [], as: UTF8.self)
    // The test checks the output that follows the escape sequence for leaving the alternate screen.
    let end = try #require(text.components(separatedBy: "\u{1B}[?1049l").last)
    #expect(end.contains("PAUSED") == isKept)
    #expect(end.contains("\(shown)\r\n") == isKept, "\(shown)")
    #expect(end.contains("Quit") == isKept)
    #expect(!window.screen.isAlternate && window.screen.isCursorVisible)
    #expect(window.screen.unknownSequences == [])
  }

  @Test("The end of the process ends batch mode with status 1, after its last frame")
  func batchOfAProcessThatGoesAway() throws {
    let file = try NamesFile(["a\tb", "\u{1B}[2J"])
    let output = try BuiltProgram.shellOutput(
      "'\(NamesFile.program)' '\(file.path)' ended; echo $?")
    let lines = output.split(separator: "\n")
    #expect(lines.count == 4 && lines.last == "1", "\(output)")
    #expect(lines[1].hasSuffix("\ta\\tb\t\t\t\\x1b[2J\t\t\t\t"), "\(output)")
    #expect(lines[2].hasSuffix("\t\\x1b[2J\t\t\ta\\tb\t\t\t\t"), "\(output)")
  }
}
