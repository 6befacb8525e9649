// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Divides bytes into lines.
struct OutputLines: Sendable {
  /// The maximum number of bytes of a line. A longer line is divided.
  static let longest = 1 << 16

  /// The bytes of the line that has not ended.
  private var rest: [UInt8] = []

  /// Takes the next bytes, and passes each complete line to `body`.
  mutating func take(_ bytes: ArraySlice<UInt8>, _ body: (String) -> Void) {
    var bytes = bytes
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      rest += bytes[..<end]
      divide(body)
      pass(rest.count, body)
      bytes = bytes[(end + 1)...]
    }
    rest += bytes
    divide(body)
  }

  /// Passes the bytes after the last line feed to `body`, if there are any.
  mutating func end(_ body: (String) -> Void) {
    if !rest.isEmpty { pass(rest.count, body) }
  }

  /// Passes parts of the line to `body` until the rest has at most the maximum length.
  private mutating func divide(_ body: (String) -> Void) {
    while rest.count > Self.longest {
      // A part does not end inside a character of UTF-8. A character has at most three further bytes, whose first two
      // bits are 10.
      var end = Self.longest
      while end > Self.longest - 4, rest[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
      pass(end, body)
    }
  }

  private mutating func pass(_ count: Int, _ body: (String) -> Void) {
    var line = rest[..<count]
    if count == rest.count, line.last == UInt8(ascii: "\r") { line.removeLast() }
    let text = String(decoding: line, as: UTF8.self)
    rest.removeFirst(count)
    body(text)
  }
}
