// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The escape sequences that a program has sent to a terminal.
package enum EscapeSequences {
  /// Returns the kinds of escape sequences in the bytes. Sequences that only move the cursor or
  /// erase are left out, because they depend on the contents of the screen. Each color and each
  /// text attribute is a separate kind.
  ///
  /// - Parameter bytes: All bytes that were sent, in UTF-8.
  /// - Returns: Kinds such as `ESC [ ? h 1049`, `ESC [ m 2` and `ESC ] 52`.
  package static func kinds(in bytes: [UInt8]) -> Set<String> {
    var kinds: Set<String> = []
    var index = 0
    while index < bytes.count {
      defer { index += 1 }
      if bytes[index] == 0xC2, index + 1 < bytes.count, (0x80...0x9F).contains(bytes[index + 1]) {
        kinds.insert("U+00\(String(bytes[index + 1], radix: 16))")
      }
      guard bytes[index] == 0x1B, index + 1 < bytes.count else { continue }
      if bytes[index + 1] == UInt8(ascii: "]") {
        let number = bytes[(index + 2)...].prefix { (0x30...0x39).contains($0) }
        kinds.insert("ESC ] \(String(decoding: number, as: UTF8.self))")
        continue
      }
      guard bytes[index + 1] == UInt8(ascii: "[") else {
        kinds.insert("ESC \(Unicode.Scalar(bytes[index + 1]))")
        continue
      }
      let parameters = bytes[(index + 2)...].prefix { !(0x40...0x7E).contains($0) }
      guard parameters.endIndex < bytes.count else { continue }
      let final = Unicode.Scalar(bytes[parameters.endIndex])
      kinds.formUnion(kindsOfControl(String(decoding: parameters, as: UTF8.self), final))
      index = parameters.endIndex
    }
    return kinds
  }

  private static func kindsOfControl(_ parameters: String, _ final: Unicode.Scalar) -> [String] {
    switch final {
    case "A", "B", "C", "D", "G", "H", "d", "J", "K", "X", "P", "@", "L", "M", "S", "T", "b", "r":
      // A sequence with a mark such as "?" before its parameters has another meaning, so it is not
      // left out.
      let marker = parameters.prefix { !$0.isNumber && $0 != ";" }
      return marker.isEmpty ? [] : ["ESC [ \(marker)\(final)"]
    case "m":
      // "38;5;n" selects one of 256 colors, so its three parameters are one attribute.
      let joined = parameters.replacing("38;5;", with: "38:5:")
      return joined.split(separator: ";").map { "ESC [ m \($0)" }
    default:
      return ["ESC [ \(parameters) \(final)"]
    }
  }

  /// Returns the control characters that are not part of an escape sequence, except those that only
  /// move the cursor. The only sequence with such a character is a text for the clipboard.
  package static func strayControls(in bytes: [UInt8]) -> Set<UInt8> {
    let allowed: Set<UInt8> = [0x08, 0x09, 0x0A, 0x0D, 0x1B]
    let clipboard = Array("\u{1B}]52;c;".utf8)
    var rest = bytes[...]
    var stray: Set<UInt8> = []
    while let byte = rest.first {
      if rest.starts(with: clipboard) {
        rest = rest.dropFirst(clipboard.count).drop { isBase64($0) }
        if rest.first == 0x07 { rest.removeFirst() }
        continue
      }
      if byte < 0x20 || byte == 0x7F, !allowed.contains(byte) { stray.insert(byte) }
      rest.removeFirst()
    }
    return stray
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x2B, 0x2F...0x39, 0x3D, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }
}
