// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Writes JSON objects without spaces, each on one line that is safe on a terminal.
///
/// The callers write the keys of an object in ascending order. A run writes at least two records for each job, so
/// writing a record must take little time, and the memory of the text is used again.
struct JSONText {
  /// The written text in UTF-8.
  private(set) var bytes: [UInt8] = []
  /// Whether a key or an element was written in the current object or list.
  private var needsComma = false

  /// Removes the written text, and keeps the memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Writes an object.
  mutating func object(_ body: (inout JSONText) -> Void) {
    begin(UInt8(ascii: "{"))
    body(&self)
    end(UInt8(ascii: "}"))
  }

  /// Ends a line.
  mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Writes a key with a text; nothing if there is no text.
  mutating func member(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    write(key)
    string(value)
  }

  /// Writes a key with a number; nothing if there is no number.
  mutating func member(_ key: StaticString, _ value: (some FixedWidthInteger)?) {
    guard let value else { return }
    write(key)
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes a key with `true` or `false`; nothing if there is no value.
  mutating func member(_ key: StaticString, _ value: Bool?) {
    guard let value else { return }
    write(key)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes a key with a list of texts; nothing if there is no list.
  mutating func member(_ key: StaticString, _ value: [String]?) {
    guard let value else { return }
    write(key)
    begin(UInt8(ascii: "["))
    for text in value {
      writeComma()
      string(text)
    }
    end(UInt8(ascii: "]"))
  }

  /// Writes a key with an object of texts.
  mutating func member(_ key: StaticString, _ value: [String: String]) {
    write(key)
    begin(UInt8(ascii: "{"))
    for (key, text) in value.sorted(by: { $0.key < $1.key }) { entry(key, text) }
    end(UInt8(ascii: "}"))
  }

  /// Writes a key that is not constant, with a text.
  private mutating func entry(_ key: String, _ value: String) {
    writeComma()
    string(key)
    bytes.append(UInt8(ascii: ":"))
    string(value)
  }

  private mutating func begin(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func writeComma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes a key that needs no escape sequences.
  private mutating func write(_ key: StaticString) {
    writeComma()
    bytes.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a string. Escape sequences replace characters that JSON does not permit, and characters that control a
  /// terminal.
  private mutating func string(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    let isPlain = value.utf8.allSatisfy { byte in
      (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    if isPlain {
      bytes.append(contentsOf: value.utf8)
    } else {
      for scalar in value.unicodeScalars { write(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": bytes.append(contentsOf: "\\\"".utf8)
    case "\\": bytes.append(contentsOf: "\\\\".utf8)
    case "\n": bytes.append(contentsOf: "\\n".utf8)
    case "\t": bytes.append(contentsOf: "\\t".utf8)
    case _ where scalar.isObeyed:
      // A character above U+FFFF is written as two code units.
      for unit in String(scalar).utf16 {
        bytes.append(contentsOf: "\\u".utf8)
        let digits = String(unit, radix: 16)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        bytes.append(contentsOf: digits.utf8)
      }
    default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
  }
}
