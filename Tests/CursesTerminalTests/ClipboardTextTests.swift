// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Foundation
import Testing

@testable import CursesTerminal

@Suite("The text for the terminal's clipboard") struct ClipboardTextTests {
  /// Returns the text that a terminal decodes from a control sequence.
  private func decoded(_ sequence: String) throws -> String {
    let text = try #require(sequence.wholeMatch(of: #/\u{1B}\]52;c;([A-Za-z0-9+/]*=*)\u{07}/#)?.1)
    return String(decoding: try #require(Data(base64Encoded: String(text))), as: UTF8.self)
  }

  @Test("CP-2: A text is encoded in Base64, whatever its length is")
  func encoding() throws {
    for length in 0...40 {
      let text = String((0..<length).map { Character(Unicode.Scalar(UInt8(33 + $0))) })
      let expected = Data(text.utf8).base64EncodedString()
      #expect(ClipboardText.sequence(for: text) == "\u{1B}]52;c;\(expected)\u{07}")
    }
    let names = ["名前 漢字", "👩‍👩‍👧‍👦 family", "שלום", "e\u{301}\u{302}x", "Ünïcödé"]
    for name in names { #expect(try decoded(ClipboardText.sequence(for: name)) == name) }
  }

  @Test("CP-2: Control characters and changes of the direction of text are removed")
  func sanitising() {
    for (text, expected) in [
      ("rm -rf x\n", "rm -rf x "), ("a\r\nb\tc", "a b c"), ("\u{1B}[31mred\u{07}", "[31mred"),
      ("a\u{0}b\u{7F}c\u{9B}d", "abcd"), ("x\u{202E}y\u{2066}z\u{200F}", "xyz"),
      ("a\u{2028}b\u{85}c", "a b c"),
    ] {
      #expect(ClipboardText.sanitised(text) == expected, "\(text.debugDescription)")
    }
  }

  @Test(
    "CP-3: A text that is too long is cut before a character",
    arguments: ["x", "é", "漢", "👩‍👩‍👧‍👦", "e\u{301}\u{302}"])
  func cutting(character: String) throws {
    let sequence = ClipboardText.sequence(for: String(repeating: character, count: 60_000))
    let encodedCount = sequence.utf8.count - "\u{1B}]52;c;\u{07}".utf8.count
    #expect(encodedCount <= ClipboardText.longestEncoding)
    let text = try decoded(sequence)
    #expect(text.count == ClipboardText.longest / character.utf8.count)
    #expect(text.allSatisfy { String($0) == character })
  }

  @Test("CP-3: A character that is too long is left out")
  func hugeCharacter() throws {
    let huge = "e" + String(repeating: "\u{301}", count: 40_000)
    #expect(try decoded(ClipboardText.sequence(for: "ab" + huge + "c")) == "ab")
  }
}
