// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import TestSupport
import Testing

/// Tests with hostile names at every place of the dashboard where a name can appear, on a real
/// terminal. A hostile name may change only its own cells, which the tests check by a comparison
/// with harmless names.
@Suite(.timeLimit(.minutes(10)), .onOwnThread) struct HostileNamesTests {
  /// Names for one run of the dashboard, and the number of cells that each name must occupy.
  struct Names: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let hostile: [String]
    let widths: [Int]

    init(_ description: String, _ hostile: [String], widths: [Int]? = nil) {
      testDescription = description
      self.hostile = hostile
      self.widths = widths ?? hostile.map(\.unicodeScalars.count)
    }

    /// Harmless names of the same widths. Each name repeats a letter that the dashboard itself does
    /// not use. The letters are different, because operations with equal names would share a row of
    /// the tree.
    var harmless: [String] {
      zip(widths, HostileNamesTests.letters).map { width, letter in
        String(repeating: String(letter), count: width)
      }
    }
  }

  private static let letters = (0x100...0x17F).compactMap(Unicode.Scalar.init).map(Character.init)

  /// The letters of the harmless names, as the text of cells.
  private static let letterTexts = Set(letters.map { "\($0)" })

  private static let controls: [Unicode.Scalar] =
    (Array(0...0x1F) + Array(0x7F...0x9F)).compactMap(Unicode.Scalar.init)

  private static let all: [Names] = [
    Names(
      "T28: controls alone, at the start and at the end",
      controls.enumerated().map { index, control in
        ["\(control)", "\(control)ab", "ab\(control)"][index % 3]
      }),
    Names(
      "T28: controls at the end, alone and at the start",
      controls.enumerated().map { index, control in
        ["ab\(control)", "\(control)", "\(control)ab"][index % 3]
      }),
    Names(
      "T29: sequences that terminals obey",
      [
        "\u{1B}]0;x\u{7}", "\u{1B}]52;c;eA==\u{1B}\\", "\u{1B}[2J\u{1B}[1;1Hx",
        "\u{1B}P1$r0m\u{1B}\\",
        "\u{1B}c", "\u{9B}2J", "\u{9D}0;x\u{9C}", "\u{90}q\u{9C}", "\u{1B}[?1049l", "\u{1B}(0qqq",
        "\u{1B}[31m", "\u{1B}[6n", "\u{1B}_x\u{1B}\\", "\u{1B}^x\u{1B}\\", "\u{E}x\u{F}",
        "\u{1B}#8",
      ]),
    Names(
      "T30: movements",
      ["ab\rc", "ab\u{8}c", "a\nb", "a\tb", "a\u{B}b", "a\u{C}b", "\r\n\r\n"]
        .map { $0 }, widths: [4, 4, 3, 3, 3, 3, 4]),
    Names(
      "T31: characters that change the text direction",
      "\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{2066}\u{2067}\u{2068}\u{2069}\u{200E}\u{200F}\u{61C}"
        .unicodeScalars.map { "ab\($0)cd" }),
    Names(
      "T32: bytes that are not valid UTF-8",
      [
        [0xFF, 0x41], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF, 0x41],
        [0x41, 0xE6, 0xBC], [0xF5, 0x80], [0x80, 0x9B, 0x32, 0x4A],
      ].map { String(decoding: $0 as [UInt8], as: UTF8.self) }),
    Names("T33: wide characters", ["漢", "漢字漢字", "a漢", "한국어", "ｆｕｌｌ"], widths: [2, 8, 3, 6, 8]),
    Names(
      "T34: combining marks",
      [
        "\u{301}a", "e\u{301}", "e\u{301}\u{302}\u{303}\u{304}\u{305}",
        "e" + String(repeating: "\u{301}", count: 20) + "x", "漢\u{301}",
      ], widths: [2, 1, 1, 2, 2]),
    Names(
      "T35: characters that fonts join",
      [
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{1F1E9}\u{1F1EA}", "\u{263A}\u{FE0F}x",
        "\u{263A}\u{FE0E}x", "\u{1112}\u{1161}\u{11AB}", "\u{E01}\u{E34}\u{E19}",
        "\u{645}\u{631}\u{62D}",
      ], widths: [8, 2, 2, 2, 2, 2, 3]),
    Names(
      "T36: empty and huge",
      [
        "", String(repeating: "n", count: 1 << 20), String(repeating: "\n", count: 10_000),
        String(repeating: "\u{1B}", count: 100_000),
      ],
      widths: [0, 1 << 20, 10_000, 100_000]),
  ]

  /// The keys that select all views: tags, the complete name, the detail, the question before a
  /// cancellation, the tree, a copied line, the queues and the screen of one queue, the timeline and
  /// its runs, the events, the groups by kind and by queue, both sides of the setup, and the help.
  private static let steps = [
    "j", "j ", "G", "w", "\u{1B}", "\r", "\u{1B}", "x", "n", "t", "*", "\u{1B}", "y",
    "\t\t", "\r", "j", "\u{1B}", "\t", "h", "l", "\t", "\t", "j", "v", "j", "v", "y", "v",
    "\u{1B}OQ", "\t", "\u{1B}", "?",
  ]

  /// Returns whether the screen is drawn completely. Rows are written in order, so the first and
  /// the last row are sufficient.
  private func isDrawn(_ screen: VirtualScreen) -> Bool {
    screen.isAlternate && !screen.isBlank(row: screen.rows - 1) && !screen.isBlank(row: 0)
  }

  /// Returns whether the screen is drawn completely, and a view of queues has the use of the slots. The use is known
  /// after the first second of the program.
  private func isComplete(_ screen: VirtualScreen) -> Bool {
    isDrawn(screen) && (!screen.contains("SLOTS") || screen.contains("%")) && hasRates(screen)
  }

  /// Returns whether a list of groups has all rates, which are known after a whole second; `true` for another view.
  private func hasRates(_ screen: VirtualScreen) -> Bool {
    let header = screen.lines.firstIndex { $0.contains(" RATE  SLOT50 ") && $0.contains(" EXEC ") }
    guard let header, let title = screen.lines[header].firstRange(of: "RATE") else { return true }
    let column =
      screen.lines[header].distance(from: screen.lines[header].startIndex, to: title.upperBound) - 1
    return (header..<screen.rows).allSatisfy {
      screen.cells[$0 * screen.columns + column].text != "–"
    }
  }

  /// Returns the contents of the terminal after each step, and all bytes that it has received.
  private func session(_ names: [String]) throws -> (screens: [VirtualScreen], bytes: [UInt8]) {
    let file = try NamesFile(names)
    let window = try PseudoTerminal(columns: 120, rows: 50)
    window.keepTranscript()
    try window.start(NamesFile.program, [file.path])
    var screens: [VirtualScreen] = []
    for step in [""] + Self.steps {
      // The test types a key and Ctrl-L, and then Ctrl-L several times. Ctrl-L redraws the screen. The first redraw may
      // happen before the key has taken effect. The second one happens after that. Before each further redraw, the
      // dashboard receives what it has requested, such as the run order of a queue, and requests what it then needs, such
      // as the details of the first operation.
      for keys in [step + "\u{C}"] + Array(repeating: "\u{C}", count: 4) {
        try #require(window.wait(until: isDrawn), "before \(step.debugDescription)")
        window.forgetScreen()
        window.type(keys)
      }
      try #require(
        window.wait(until: isComplete), "after \(step.debugDescription): \(window.screen.lines)")
      window.absorb(for: .milliseconds(30))
      screens.append(window.screen)
    }
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
    #expect(window.screen.unknownSequences == [])
    return (screens, window.transcript ?? [])
  }

  @Test("T28..T36: hostile names change nothing but their own cells", arguments: all)
  func namesStayInTheirCells(names: Names) async throws {
    async let expected = onOwnThread { try session(names.harmless) }
    let (hostile, bytes) = try await onOwnThread { try session(names.hostile) }
    let (harmless, harmlessBytes) = try await expected
    let kinds = EscapeSequences.kinds(in: bytes)
    #expect(
      kinds.subtracting(EscapeSequences.kinds(in: harmlessBytes)) == [],
      "no sequence that is not there with harmless names")
    #expect(EscapeSequences.strayControls(in: bytes) == [])
    // A name cannot copy a text, so each such sequence is from the key y.
    let copies = zip(bytes, bytes.dropFirst()).count { $0 == (0x1B, UInt8(ascii: "]")) }
    #expect(copies == Self.steps.count { $0 == "y" })
    for (step, (left, right)) in zip([""] + Self.steps, zip(hostile, harmless)) {
      // Two views are not compared. The window with the complete name breaks lines between words,
      // and a harmless name has only one word. The timeline changes with time.
      let isTimeline = right.lines.contains { $0.hasPrefix("─ timeline ") }
      guard step != "w", !isTimeline else { continue }
      for row in 0..<left.rows where !right.line(row).hasPrefix(" rate ") {
        let difference = difference(left, right, row: row)
        #expect(
          difference == nil,
          "after \(step.debugDescription), row \(row): \(difference ?? "")")
      }
    }
  }

  /// Returns a description of the first cell outside names that differs between two screens, with
  /// both rows; `nil` if no cell differs.
  private func difference(_ left: VirtualScreen, _ right: VirtualScreen, row: Int) -> String? {
    for column in 0..<left.columns {
      let (cell, expected) = (
        left.cells[row * left.columns + column], right.cells[row * right.columns + column]
      )
      if cell.text == expected.text || expected.text == "…" { continue }
      if Self.letterTexts.contains(expected.text) { continue }
      // Digits may differ, because times and the numbers of characters in names differ.
      if isDigit(cell.text), isDigit(expected.text) { continue }
      return "column \(column)\n\(left.lines[row])\n\(right.lines[row])"
    }
    return nil
  }

  private func isDigit(_ text: String) -> Bool { text.first?.isNumber == true }

  @Test("T38: a name cannot imitate the question whether to cancel")
  func theQuestionCannotBeFaked() throws {
    let fake = "x?\r Quit? y Yes\u{1B}[1A\u{1B}[2K"
    let file = try NamesFile([fake, fake, fake])
    let window = try PseudoTerminal()
    try window.start(NamesFile.program, [file.path])
    #expect(window.wait { $0.contains("total") })
    window.type("gx")
    #expect(window.wait { $0.contains("Cancel #103 x?  Quit? y Yes·[1A·[2K?") })
    #expect(window.screen.lines.count { $0.hasPrefix(" Quit?") } == 0)
    window.type("nQ")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test("T29: text that is pasted into the filter changes only the filter's cells")
  func theFilterIsSanitised() throws {
    let file = try NamesFile(["one", "two"])
    let window = try PseudoTerminal()
    window.keepTranscript()
    try window.start(NamesFile.program, [file.path])
    #expect(window.wait { $0.contains("total") })
    window.type("\\plain")
    #expect(window.wait { $0.contains("plain") })
    window.type("\u{15}")
    let before = EscapeSequences.kinds(in: window.transcript ?? [])
    window.type("\u{1B}[200~a\u{1B}]0;x\u{7}b\u{9B}2J\u{1B}c\u{202E}\u{1B}[201~")
    #expect(window.wait { $0.contains("]0;x") && $0.contains("2J") })
    window.type("\r")
    #expect(window.wait { $0.contains("filter: ") })
    window.absorb(for: .milliseconds(100))
    let added = EscapeSequences.kinds(in: window.transcript ?? []).subtracting(before)
    #expect(added.allSatisfy { $0.hasPrefix("ESC [ m") }, "colors of ours: \(added)")
    #expect(window.screen.unknownSequences == [])
    #expect(window.screen.lines[0].contains("opq-top"))
    window.type("Q")
    #expect(window.waitForEnd() == .status(0))
  }

  @Test(
    "T29, T32: the program's own name is sanitised, for any bytes",
    arguments: [
      Array("a\u{1B}]0;x\u{7}b".utf8), [0xFF, 0xC0, 0xAF, 0xED, 0xA0, 0x80, 0x41],
      Array("\u{9B}2J\u{202E}\n".utf8),
    ])
  func theProgramsOwnNameIsSanitised(bytes: [UInt8]) throws {
    let output = try BuiltProgram.shellOutput(
      "exec -a \"$(printf '\(bytes.map { "\\" + octal($0) }.joined())')\" '\(BuiltProgram.path)' --batch -n 1"
    )
    #expect(!output.isEmpty)
    #expect(
      output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
  }

  private func octal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 8)
    return String(repeating: "0", count: 3 - digits.count) + digits
  }
}
