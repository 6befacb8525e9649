// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The first byte of an encoded value.
///
/// Only processes of the same executable exchange encoded values. So the format has no version, and numbers have the
/// byte order of the machine.
///
/// | value | bytes after the tag |
/// | --- | --- |
/// | `null`, `no`, `yes` | none |
/// | `string` | the number of bytes as `Int`, and the bytes of UTF-8 |
/// | `float`, `double`, integers | the number |
/// | `keyed` | the number of the following bytes as `Int`; for each entry a key as `string`, and a value |
/// | `unkeyed` | the number of the following bytes and the number of elements as `Int`; the elements |
/// | `bytes` | the number of bytes as `Int`, and then the bytes. Each byte is an element of the type `UInt8` |
struct ValueTag: Equatable, Sendable {
  static let null = ValueTag(rawValue: 0)
  static let no = ValueTag(rawValue: 1)
  static let yes = ValueTag(rawValue: 2)
  static let string = ValueTag(rawValue: 3)
  static let float = ValueTag(rawValue: 4)
  static let double = ValueTag(rawValue: 5)
  static let keyed = ValueTag(rawValue: 6)
  static let unkeyed = ValueTag(rawValue: 7)
  static let bytes = ValueTag(rawValue: 8)

  let rawValue: UInt8

  /// The number of bytes of a length.
  static let lengthSize = MemoryLayout<Int>.size

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The tag of an integer type with at most 128 bits.
  init<Number: FixedWidthInteger>(of type: Number.Type) {
    let size = UInt8((Number.bitWidth / 8).trailingZeroBitCount)
    rawValue = (Number.isSigned ? 0x10 : 0x20) | size
  }

  /// The number of bytes of a number with this tag; `nil` if the tag is not that of a number.
  var numberSize: Int? {
    if self == .float { return 4 }
    if self == .double { return 8 }
    return isInteger ? 1 << Int(rawValue & 0xf) : nil
  }

  /// Whether the tag is that of an integer.
  var isInteger: Bool { (0x10...0x14).contains(rawValue) || (0x20...0x24).contains(rawValue) }

  /// Whether the tag is that of an integer type with negative numbers.
  var isSigned: Bool { rawValue & 0x10 != 0 }
}
