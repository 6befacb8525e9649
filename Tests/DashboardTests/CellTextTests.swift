// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import Dashboard

@Suite("Untrusted text")
struct CellTextTests {
  private func shown(_ text: String, columns: Int = 20, isUnicode: Bool = true) -> String {
    var shown = String.UnicodeScalarView()
    for cell in CellText(text, columns: columns, isUnicode: isUnicode).cells
    where !cell.isContinuation {
      shown.append(cell.scalar)
      if let mark = cell.mark { shown.append(mark) }
    }
    return String(shown)
  }

  @Test("T28: control characters take one visible cell, at any position")
  func controlCharactersAreVisible() {
    for value in Array(UInt32(0)...0x1F) + Array(UInt32(0x7F)...0x9F) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let control = String(Character(scalar))
      for text in [control, "\(control)a", "a\(control)"] {
        let cells = CellText(text, columns: 9).cells
        #expect(cells.count == text.unicodeScalars.count, "U+\(String(value, radix: 16))")
        #expect(cells.allSatisfy { $0.scalar == " " || $0.scalar == "·" || $0.scalar == "a" })
      }
    }
  }

  @Test("T29, T30: escape sequences and line movements are only text")
  func escapeSequencesAreText() {
    #expect(shown("\u{1B}]0;x\u{07}") == "·]0;x·")
    #expect(shown("\u{9B}2J") == "·2J")
    #expect(shown("a\rb\u{08}c\td\ne") == "a b·c d e")
  }

  @Test("T31: bidirectional controls and other format characters are visible")
  func formatCharactersAreVisible() {
    for scalar
      in "\u{202A}\u{202E}\u{2066}\u{2069}\u{200E}\u{200F}\u{061C}\u{200B}\u{200D}\u{FEFF}\u{AD}"
      .unicodeScalars
    {
      #expect(shown("a\(scalar)b") == "a·b", "U+\(String(scalar.value, radix: 16))")
    }
    #expect(shown("a\u{2028}b\u{2029}c") == "a b c")
    #expect(shown("\u{E000}\u{FFFE}\u{10FFFF}") == "\u{FFFD}\u{FFFD}\u{FFFD}")
  }

  @Test("T33: a wide character is drawn completely or not at all")
  func wideCharactersAreNotCut() {
    #expect(CellText("漢字", columns: 4).cells.count == 4)
    #expect(shown("漢字", columns: 4) == "漢字")
    #expect(shown("漢字", columns: 3) == "漢…")
    #expect(shown("漢字", columns: 2) == "… ")
    #expect(shown("漢", columns: 1) == "…")
    #expect(shown("a漢字", columns: 4) == "a漢…")
    let cells = CellText("漢", columns: 2).cells
    #expect(!cells[0].isContinuation && cells[1].isContinuation)
  }

  @Test("T34: marks stay in their cell, at most one per cell, and never come first")
  func marksStayInTheirCell() {
    #expect(shown("e\u{301}") == "e\u{301}")
    #expect(CellText("e\u{301}\u{302}\u{303}x", columns: 9).cells.count == 2)
    #expect(shown("\u{301}a") == "\u{25CC}\u{301}a")
    #expect(CellText("a" + String(repeating: "\u{301}", count: 200), columns: 4).cells.count <= 4)
    #expect(CellText("漢\u{301}", columns: 2).cells.count == 2)
    #expect(shown("☎\u{FE0F}") == "☎")
  }

  @Test("T36: the cost of empty and huge texts depends on the width of their column")
  func hugeTextsAreClippedFirst() {
    #expect(CellText("", columns: 9).cells.isEmpty)
    #expect(CellText("abc", columns: 0).cells.isEmpty)
    let huge = String(repeating: "n", count: 10_000_000)
    #expect(shown(huge, columns: 5) == "nnnn…")
    #expect(shown(String(repeating: "\n", count: 10_000), columns: 3) == "  …")
  }

  @Test func aTextThatFitsExactlyIsNotCut() {
    #expect(shown("abcde", columns: 5) == "abcde")
    #expect(shown("abcdef", columns: 5) == "abcd…")
    #expect(shown("abcdef", columns: 5, isUnicode: false) == "abcd~")
  }

  @Test func withoutUnicodeEverythingElseIsAQuestionMark() {
    #expect(shown("é漢\u{1B}\u{202E}", isUnicode: false) == "????")
  }

  @Test(
    "Cells stay within their columns, and wide characters stay complete, for any text",
    arguments: 0..<20)
  func anyTextIsSafe(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let pools: [ClosedRange<UInt32>] = [
      0...0xFF, 0x300...0x36F, 0x1100...0x11FF, 0x2000...0x206F, 0x4E00...0x4E10, 0x1F300...0x1F5FF,
      0xFE00...0xFE0F, 0...0x10FFFF,
    ]
    for _ in 0..<200 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        guard let pool = pools.randomElement(using: &random),
          let scalar = Unicode.Scalar(UInt32.random(in: pool, using: &random))
        else { continue }
        text.append(scalar)
      }
      let columns = Int.random(in: 0...12, using: &random)
      var canvas = Canvas(size: Size(columns: columns, rows: 1), capabilities: Capabilities())
      canvas.write(String(text), row: 0, columns: 0..<columns)
      GoldenFrame.checkCells(of: canvas.grid)
    }
  }
}
