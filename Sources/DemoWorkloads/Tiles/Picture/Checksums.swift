// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The cyclic redundancy check at the end of each PNG chunk (ISO 3309, polynomial 0xEDB88320).
struct CRC32: Equatable, Sendable {
  private var remainder: UInt32 = 0xFFFF_FFFF

  /// The checksum of all bytes that were added; 0 if no bytes were added.
  var value: UInt32 { ~remainder }

  mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      remainder = Self.table[Int((remainder ^ UInt32(byte)) & 0xFF)] ^ (remainder >> 8)
    }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ (value >> 1)
    }
  }
}

/// The checksum at the end of zlib data (RFC 1950, section 8.2).
struct Adler32: Equatable, Sendable {
  private var low: UInt32 = 1
  private var high: UInt32 = 0

  /// The checksum of all bytes that were added; 1 if no bytes were added.
  var value: UInt32 { high << 16 | low }

  mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      low += UInt32(byte)
      if low >= Self.modulus { low -= Self.modulus }
      high += low
      if high >= Self.modulus { high -= Self.modulus }
    }
  }

  /// The largest prime number below 2^16, the modulus of the checksum.
  private static let modulus: UInt32 = 65521
}
