// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The error that a text is not the expected JSON.
package struct JSONFault: Error, Hashable {}

/// Reads JSON (RFC 8259) in one pass, without a tree of values.
///
/// Each method reads one value, or throws if the next value has another type. The scanner is valid only as long as the
/// memory of the text.
struct JSONScanner {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0
  /// The maximum number of lists and objects that contain each other.
  private static let deepest = 64

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Reads a text with one value, and calls the closure to read the value.
  static func read<Value>(
    _ bytes: [UInt8], _ body: (inout JSONScanner) throws(JSONFault) -> Value
  ) throws(JSONFault) -> Value {
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONFault) in
        var scanner = JSONScanner(bytes)
        let value = try body(&scanner)
        try scanner.end()
        return value
      }
    }
    return try result.get()
  }

  /// Checks that nothing but spaces follows.
  mutating func end() throws(JSONFault) {
    skipSpace()
    guard position == bytes.count else { throw JSONFault() }
  }

  /// Reads an object. Calls a closure with each key; the closure reads the value.
  mutating func readObject(
    _ body: (inout JSONScanner, String) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    try expect("{")
    if skip("}") { return }
    repeat {
      let key = try readString()
      try expect(":")
      try body(&self, key)
    } while skip(",")
    try expect("}")
  }

  /// Reads a list. Calls a closure for each element; the closure reads the element.
  mutating func readList(
    _ body: (inout JSONScanner) throws(JSONFault) -> Void
  ) throws(JSONFault) {
    try expect("[")
    if skip("]") { return }
    repeat { try body(&self) } while skip(",")
    try expect("]")
  }

  /// Reads a list of strings.
  mutating func readStrings() throws(JSONFault) -> [String] {
    var strings: [String] = []
    try readList { scanner throws(JSONFault) in strings.append(try scanner.readString()) }
    return strings
  }

  /// Reads `true` or `false`.
  mutating func readBoolean() throws(JSONFault) -> Bool {
    skipSpace()
    if skipWord("true") { return true }
    guard skipWord("false") else { throw JSONFault() }
    return false
  }

  /// Reads an integer that the type can represent.
  mutating func readInteger<Number: FixedWidthInteger>() throws(JSONFault) -> Number {
    skipSpace()
    let first = position
    skipNumber()
    guard
      let number = Number(
        String(decoding: UnsafeBufferPointer(rebasing: bytes[first..<position]), as: UTF8.self))
    else { throw JSONFault() }
    return number
  }

  /// Reads a value of any type, and ignores it.
  mutating func skipValue(depth: Int = 0) throws(JSONFault) {
    guard depth <= Self.deepest else { throw JSONFault() }
    skipSpace()
    switch position < bytes.count ? bytes[position] : 0 {
    case UInt8(ascii: "{"):
      try readObject { scanner, _ throws(JSONFault) in try scanner.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["):
      try readList { scanner throws(JSONFault) in try scanner.skipValue(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try readString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try readBoolean()
    case UInt8(ascii: "n"): guard skipWord("null") else { throw JSONFault() }
    default:
      let first = position
      skipNumber()
      guard position > first else { throw JSONFault() }
    }
  }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
        position += 1
      default: return
      }
    }
  }

  /// Skips the characters that numbers consist of.
  private mutating func skipNumber() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
        position += 1
      default: return
      }
    }
  }

  /// Skips a character and the spaces before it, if it is the next one. Returns whether it is.
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(JSONFault) {
    guard skip(character) else { throw JSONFault() }
  }

  private mutating func skipWord(_ word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      guard bytes.count - position >= word.count,
        bytes[position..<position + word.count].elementsEqual(word)
      else { return false }
      position += word.count
      return true
    }
  }
}

extension JSONScanner {
  /// Reads a string.
  mutating func readString() throws(JSONFault) -> String {
    try expect("\"")
    let first = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        let text = String(
          validating: UnsafeBufferPointer(rebasing: bytes[first..<position]), as: UTF8.self)
        position += 1
        guard let text else { throw JSONFault() }
        return text
      case UInt8(ascii: "\\"): return try readEscapedString(after: first)
      case ..<0x20: throw JSONFault()
      default: position += 1
      }
    }
    throw JSONFault()
  }

  /// Reads the rest of a string. The next byte is the first backslash.
  private mutating func readEscapedString(after first: Int) throws(JSONFault) -> String {
    var text = Array(bytes[first..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else { throw JSONFault() }
        return text
      case UInt8(ascii: "\\"): text.append(contentsOf: String(try readEscape()).utf8)
      case ..<0x20: throw JSONFault()
      default: text.append(byte)
      }
    }
    throw JSONFault()
  }

  /// Reads an escape sequence after its backslash.
  private mutating func readEscape() throws(JSONFault) -> Unicode.Scalar {
    guard position < bytes.count else { throw JSONFault() }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try readScalar()
    default: throw JSONFault()
    }
  }

  /// Reads the digits of an escape sequence `\uNNNN`, and the second half of a surrogate pair.
  private mutating func readScalar() throws(JSONFault) -> Unicode.Scalar {
    let first = try readCodeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800..<0xDC00).contains(first), position + 2 <= bytes.count,
      bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
    else { throw JSONFault() }
    position += 2
    let second = try readCodeUnit()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw JSONFault() }
    return scalar
  }

  private mutating func readCodeUnit() throws(JSONFault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard position < bytes.count,
        let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue
      else { throw JSONFault() }
      unit = unit << 4 | UInt32(digit)
      position += 1
    }
    return unit
  }
}
