// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
import Testing

@testable import CursesTerminal

@Suite struct KeyDecoderTests {
  @Test(
    arguments: [
      ("q", .character("q")), (" ", .character(" ")), ("é", .character("é")),
      ("漢", .character("漢")), ("😀", .character("😀")), ("\r", .key(.enter)),
      ("\n", .key(.enter)), ("\t", .key(.tab)), ("\u{7F}", .key(.backspace)),
      ("\u{8}", .key(.backspace)), ("\u{3}", .control("c")), ("\u{1A}", .control("z")),
      ("\u{0}", .control(" ")), ("\u{1C}", .control("\\")), ("\u{1B}1", .alt("1")),
      ("\u{1B}é", .alt("é")), ("\u{1B}[A", .key(.up)), ("\u{1B}OA", .key(.up)),
      ("\u{1B}[B", .key(.down)), ("\u{1B}OB", .key(.down)), ("\u{1B}[C", .key(.right)),
      ("\u{1B}OC", .key(.right)), ("\u{1B}[D", .key(.left)), ("\u{1B}OD", .key(.left)),
      ("\u{1B}[1;5A", .key(.up)), ("\u{1B}[H", .key(.home)), ("\u{1B}OH", .key(.home)),
      ("\u{1B}[1~", .key(.home)), ("\u{1B}[4~", .key(.end)), ("\u{1B}[F", .key(.end)),
      ("\u{1B}[5~", .key(.pageUp)), ("\u{1B}[6~", .key(.pageDown)),
      ("\u{1B}[2~", .key(.insert)), ("\u{1B}[3~", .key(.delete)),
      ("\u{1B}[3;5~", .key(.delete)), ("\u{1B}[Z", .key(.backTab)), ("\u{1B}OP", .function(1)),
      ("\u{1B}[11~", .function(1)), ("\u{1B}[[A", .function(1)), ("\u{1B}[[E", .function(5)),
      ("\u{1B}[15~", .function(5)), ("\u{1B}[17~", .function(6)), ("\u{1B}[20~", .function(9)),
      ("\u{1B}[21~", .function(10)), ("\u{1B}[24~", .function(12)),
      ("\u{1B}[1;2P", .function(1)), ("\u{1B}OM", .key(.enter)), ("\u{1B}Oq", .character("1")),
    ] as [(String, Input)])
  func aSplitSequenceGivesTheSameKey(bytes: String, key: Input) {
    let bytes = Array(bytes.utf8)
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      let inputs = decoder.consume(bytes[..<cut]) + decoder.consume(bytes[cut...])
      #expect(inputs == [key], "cut after \(cut) bytes")
      #expect(decoder.patience == nil)
    }
  }

  @Test("T39: ESC is the Escape key only when nothing follows it")
  func escapeWaitsForWhatMayFollow() {
    var decoder = KeyDecoder()
    #expect(decoder.consume([0x1B]) == [])
    #expect(decoder.patience == .milliseconds(25))
    #expect(decoder.expire() == [.key(.escape)])
    #expect(decoder.consume("[A".utf8) == [.character("["), .character("A")])
    #expect(decoder.consume([0x1B]) + decoder.consume("[A".utf8) == [.key(.up)])
    #expect(decoder.consume([0x1B, 0x1B]) + decoder.expire() == [.key(.escape), .key(.escape)])
    #expect(decoder.consume("\u{1B}\r".utf8) == [.key(.escape), .key(.enter)])
  }

  @Test("T40: Alt and the first character of a sequence is that character, when nothing follows")
  func altWithTheBeginningOfASequence() {
    var decoder = KeyDecoder()
    #expect(decoder.consume("\u{1B}[".utf8) + decoder.expire() == [.alt("[")])
    #expect(decoder.consume("\u{1B}O".utf8) + decoder.expire() == [.alt("O")])
  }

  @Test("T45: An incomplete sequence does not consume the beginning of the next one")
  func aSequenceCutShort() {
    for beginning in ["\u{1B}O", "\u{1B}[", "\u{1B}[1;"] {
      var decoder = KeyDecoder()
      let inputs = decoder.consume((beginning + "\u{1B}[200~x\u{3}\u{1B}[201~q").utf8)
      #expect(inputs.suffix(2) == [.paste("x\u{3}"), .character("q")], "\(inputs)")
    }
  }

  @Test("T40: Alt and any letter or digit is one key, wherever it is cut")
  func altAndAnyCharacter() {
    for character in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ0123456789é漢"
      .unicodeScalars
    {
      let bytes = [0x1B] + Array(String(character).utf8)
      for cut in 0...bytes.count {
        var decoder = KeyDecoder()
        let inputs = decoder.consume(bytes[..<cut]) + decoder.consume(bytes[cut...])
        #expect(inputs == [.alt(character)], "Alt-\(character) cut after \(cut)")
      }
    }
  }

  @Test(
    "T45: Unknown sequences are ignored, and the following keys are not",
    arguments: [
      "\u{1B}[?1;2c", "\u{1B}[99~", "\u{1B}[I", "\u{1B}[<0;10;20m", "\u{1B}[M !!", "\u{1B}[12;5u",
      "\u{1B}[1;2;3;4x", "\u{1B}Oz", "\u{9B}", "\u{85}",
    ])
  func unknownSequencesAreSwallowed(bytes: String) {
    var decoder = KeyDecoder()
    #expect(decoder.consume((bytes + "q").utf8) == [.character("q")])
  }

  @Test("T43: Invalid bytes are dropped, and the following characters are not")
  func brokenCharactersAreDropped() {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x80], [0xF8]] {
      var decoder = KeyDecoder()
      #expect(decoder.consume(bytes + Array("q".utf8)) == [.character("q")], "\(bytes)")
    }
    var decoder = KeyDecoder()
    #expect(decoder.consume([0xE6, 0xBC]) + decoder.expire() == [])
    #expect(decoder.consume("q".utf8) == [.character("q")])
  }

  @Test("T41: Pasted text is one input, for any contents and wherever it is cut")
  func pastedTextIsOneInput() {
    let bytes = Array("a\u{1B}[200~x\n\u{1B}[A\u{3}é\u{1B}[201~b".utf8)
    for cut in 0...bytes.count {
      var decoder = KeyDecoder()
      let inputs = decoder.consume(bytes[..<cut]) + decoder.consume(bytes[cut...])
      #expect(
        inputs == [.character("a"), .paste("x\n\u{1B}[A\u{3}é"), .character("b")], "cut at \(cut)")
    }
  }

  @Test func aPasteWithoutAnEndEndsAfterATimeout() {
    var decoder = KeyDecoder()
    #expect(decoder.consume("\u{1B}[200~abc".utf8) == [])
    #expect(decoder.patience == .seconds(1))
    #expect(decoder.expire() == [.paste("abc")])
    #expect(decoder.consume("q".utf8) == [.character("q")])
  }

  @Test func aHugePasteIsCutAndItsEndIsFound() {
    var decoder = KeyDecoder()
    var inputs = decoder.consume("\u{1B}[200~".utf8)
    for _ in 0..<100 { inputs += decoder.consume(String(repeating: "x", count: 4096).utf8) }
    inputs += decoder.consume("\u{1B}[201~q".utf8)
    let text = String(repeating: "x", count: KeyDecoder.longestPaste)
    #expect(inputs == [.paste(text), .character("q")])
  }

  @Test func aSequenceWithoutAnEndIsLimited() {
    var decoder = KeyDecoder()
    let inputs = decoder.consume(("\u{1B}[" + String(repeating: "1", count: 100) + "q").utf8)
    #expect(inputs.last == .character("q"))
  }

  @Test func sequencesFromTerminfoAreKeys() {
    var decoder = KeyDecoder(
      terminalKeys: [
        (Array("\u{1B}[[17;9z".utf8), .function(3)), (Array("\u{1B}[A".utf8), .key(.up)),
        ([0x08], .key(.left)),
      ])
    #expect(decoder.consume("\u{1B}[[17".utf8) == [])
    #expect(decoder.consume(";9z".utf8) == [.function(3)])
    #expect(decoder.consume([0x08]) == [.key(.backspace)])
    #expect(decoder.consume("\u{1B}[A".utf8) == [.key(.up)])
  }
}
