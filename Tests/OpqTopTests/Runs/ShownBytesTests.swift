// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

@Suite("Output of commands on a terminal") struct ShownBytesTests {
  /// Returns the text of bytes that arrive in pieces of a length.
  private func text(
    _ bytes: [UInt8], pieces length: Int = .max, isUnicode: Bool = true
  ) -> String {
    var shown = ShownBytes(isUnicode: isUnicode)
    var text: [UInt8] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      text += shown.text(of: rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return String(decoding: text + shown.end(), as: UTF8.self)
  }

  @Test("RD-9: Characters that control a terminal are replaced, and lines and tabs are kept")
  func controls() {
    #expect(text(Array("a\tb\r\nc\n".utf8)) == "a\tb\nc\n")
    #expect(text(Array("\u{1B}]0;x\u{7}\u{1B}[2J10%\r20%\r".utf8)) == "·]0;x··[2J10%·20%·")
    #expect(text(Array("é→\u{9B}31m\u{202E}x\u{2028}".utf8)) == "é→·31m·x·")
    #expect(text([0x9B, 0xFF, 0x61]) == "\u{FFFD}\u{FFFD}a")
    #expect(text([]) == "")
  }

  @Test("RD-9: With ASCII only, each other character is one character")
  func ascii() {
    #expect(text(Array("é→\u{9B}x\u{1B}".utf8), isUnicode: false) == "??.x.")
  }

  @Test("RD-9: The text does not depend on the pieces in which the bytes arrive")
  func pieces() {
    let seed = SeededGenerator.announcedSeed()
    var generator = SeededGenerator(seed: seed)
    let samples: [[UInt8]] = [
      Array("é→😀\r\n".utf8), [0x0D], [0x0A], [0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
      [0x1B, 0x5B], Array("plain\n".utf8), [0xFF, 0xC3, 0x0D, 0x0A],
    ]
    for _ in 0..<500 {
      let bytes = (0..<Int.random(in: 0...12, using: &generator)).flatMap { _ in
        samples.randomElement(using: &generator) ?? []
      }
      let whole = text(bytes)
      for length in 1...5 {
        #expect(text(bytes, pieces: length) == whole, "\(bytes), seed \(seed)")
      }
      #expect(whole.unicodeScalars.allSatisfy { !$0.isObeyed || $0 == "\n" || $0 == "\t" })
    }
  }
}
