// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The control sequence that copies a text to the clipboard of a terminal, OSC 52.
///
/// tmux handles the sequence itself, if its option `set-clipboard` permits it, so the sequence is never wrapped.
enum ClipboardText {
  /// The maximum length of the encoded text in bytes. xterm ignores a longer text.
  static let longestEncoding = 74_994
  /// The maximum length of the text in bytes, so that its encoding has at most ``longestEncoding`` bytes.
  static let longest = longestEncoding / 4 * 3

  /// Returns the control sequence for a text.
  static func sequence(for text: String) -> String {
    "\u{1B}]52;c;\(base64(Array(sanitised(text).utf8)))\u{07}"
  }

  /// Returns the text without control characters and without characters that change the direction of text. Each line
  /// break and each tab becomes a space, so that a shell does not execute the text when it is pasted. The text is cut
  /// before the first character that would exceed ``longest``.
  static func sanitised(_ text: String) -> String {
    var result = ""
    var count = 0
    for character in text {
      // A line break of two characters is one space.
      let clean =
        character == "\r\n"
        ? " " : String(String.UnicodeScalarView(character.unicodeScalars.compactMap(shown)))
      count += clean.utf8.count
      guard count <= longest else { return result }
      result += clean
    }
    return result
  }

  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "\t", "\n", "\r", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}": return " "
    case "\u{061C}", "\u{200E}", "\u{200F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
      return nil
    default: return scalar.properties.generalCategory == .control ? nil : scalar
    }
  }

  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Returns bytes in the encoding Base64, with padding.
  static func base64(_ bytes: [UInt8]) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0..<4 {
        let isPadding = index > group.count
        encoded.append(isPadding ? UInt8(ascii: "=") : digits[bits >> (18 - 6 * index) & 63])
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
