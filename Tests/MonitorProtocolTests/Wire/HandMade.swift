// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Frames that are written field by field in the encoding of protocol buffers, without the
/// library's code, as another program would write them.
enum HandMade {
  static func varint(_ number: UInt64) -> [UInt8] {
    var rest = number
    var bytes: [UInt8] = []
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  static func tag(_ field: Int, _ type: UInt64) -> [UInt8] { varint(UInt64(field) << 3 | type) }

  static func number(_ field: Int, _ number: UInt64) -> [UInt8] {
    tag(field, 0) + varint(number)
  }

  static func signed(_ field: Int, _ value: Int64) -> [UInt8] {
    number(field, UInt64(bitPattern: value))
  }

  static func bytes(_ field: Int, _ bytes: [UInt8]) -> [UInt8] {
    tag(field, 2) + varint(UInt64(bytes.count)) + bytes
  }

  static func text(_ field: Int, _ text: String) -> [UInt8] { bytes(field, Array(text.utf8)) }

  static func message(_ field: Int, _ content: [UInt8]...) -> [UInt8] {
    bytes(field, content.flatMap { $0 })
  }

  static func packed(_ field: Int, _ numbers: some Sequence<UInt64>) -> [UInt8] {
    bytes(field, numbers.flatMap { varint($0) })
  }

  /// Fields with unknown numbers, one for each wire type of protocol buffers.
  static var unknownFields: [UInt8] {
    number(1_000, 7) + tag(1_001, 1) + [1, 2, 3, 4, 5, 6, 7, 8] + text(1_002, "later")
      + tag(1_003, 3) + number(1, 5) + tag(1_003, 4) + tag(1_004, 5) + [1, 2, 3, 4]
  }

  static func watch(_ interest: [UInt8]..., interval: Int64 = 250_000_000) -> [UInt8] {
    message(2, bytes(1, interest.flatMap { $0 }), signed(2, interval))
  }

  /// Returns the encoded message with a complete update, which consists of a single part.
  static func update(_ content: [UInt8]...) -> [UInt8] {
    message(2, number(1, 1), number(2, 1), content.flatMap { $0 })
  }
}
