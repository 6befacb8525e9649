// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem
import MonitorProtocol

/// Converts the output of a command, in pieces, to text that does not control a terminal.
///
/// Line feeds and tabs are kept. A carriage return before a line feed is left out. A dot replaces each other character
/// that controls a terminal. Bytes that are not valid UTF-8 become U+FFFD.
struct ShownBytes {
  /// Whether the text may have characters beyond ASCII.
  let isUnicode: Bool
  /// The bytes at the end of the last piece that begin a character or the end of a line; at most three.
  private var begun: [UInt8] = []

  /// - Parameter isUnicode: Whether the text may have characters beyond ASCII. Otherwise `?` replaces them.
  init(isUnicode: Bool) { self.isUnicode = isUnicode }

  /// Returns the text of the next piece. The last character of the piece may be returned by the next call.
  mutating func text(of piece: ArraySlice<UInt8>) -> [UInt8] {
    let bytes = begun + piece
    begun = []
    return text(of: bytes, isLast: false)
  }

  /// Returns the text of the bytes that no further piece completes.
  mutating func end() -> [UInt8] {
    defer { begun = [] }
    return text(of: begun, isLast: true)
  }

  private mutating func text(of bytes: [UInt8], isLast: Bool) -> [UInt8] {
    var shown: [UInt8] = []
    shown.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let length = bytes[index...].withUnsafeBytes {
        cmonitor_plain_length($0.baseAddress, $0.count)
      }
      shown += bytes[index..<index + length]
      index += length
      guard index < bytes.count else { break }
      let next = bytes[index...].firstIndex(where: Self.isPlain) ?? bytes.count
      var end = next
      if next == bytes.count, !isLast {
        end -= Self.begunCount(in: bytes[index...])
        begun = Array(bytes[end...])
      } else if next < bytes.count, bytes[next] == UInt8(ascii: "\n"),
        bytes[next - 1] == UInt8(ascii: "\r")
      {
        end -= 1
      }
      append(String(decoding: bytes[index..<end], as: UTF8.self), to: &shown)
      index = next
    }
    return shown
  }

  /// Whether a terminal shows a byte as it is.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x20..<0x7F).contains(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t")
  }

  /// Returns the number of the last bytes that the next byte may complete: those of a carriage return or of the
  /// beginning of a character.
  private static func begunCount(in bytes: ArraySlice<UInt8>) -> Int {
    if bytes.last == UInt8(ascii: "\r") { return 1 }
    guard let lead = bytes.suffix(3).lastIndex(where: { $0 >= 0xC0 }) else { return 0 }
    let length = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
    let count = bytes.endIndex - lead
    let isCharacter = bytes[(lead + 1)...].allSatisfy { $0 & 0xC0 == 0x80 }
    return count < length && isCharacter ? count : 0
  }

  private func append(_ text: String, to shown: inout [UInt8]) {
    for scalar in text.unicodeScalars {
      if scalar.isObeyed {
        shown += (isUnicode ? "\u{B7}" : ".").utf8
      } else if isUnicode || scalar.isASCII {
        shown += UTF8.encode(scalar).map(Array.init) ?? []
      } else {
        shown.append(UInt8(ascii: "?"))
      }
    }
  }
}
