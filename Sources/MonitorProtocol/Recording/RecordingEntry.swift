// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The format of a recording.
///
/// A recording begins with ``magic`` and the major and minor version. Entries follow, and the first
/// entry is the greeting. The entries of the index follow the other entries. The recording ends
/// with the offset of the index and ``endMagic``. Numbers are in little-endian byte order.
enum RecordingFormat {
  /// The version of the recordings that this program writes. A minor version adds kinds of entries
  /// and kinds of places in the index, and older readers skip them.
  static let versions = ProtocolVersions(major: 1, minor: 1)
  static let magic = Array("OPQREC".utf8)
  /// The last bytes of a complete recording.
  static let endMagic = Array("OPQEND".utf8)
  /// The size of the header in bytes: 6 bytes for ``magic``, and 4 bytes for each of the two
  /// version numbers.
  static let headerSize = 14
  /// The size of the trailer in bytes: 8 bytes for the offset of the index, and 6 bytes for
  /// ``endMagic``.
  static let trailerSize = 14
}

/// One entry of a recording. It consists of the payload's length in 4 bytes, a checksum in 4 bytes,
/// the kind in 1 byte, the time in 8 bytes, and the payload. The checksum covers everything that
/// follows it.
struct RecordingEntry: Equatable {
  /// The kind of an entry's payload.
  enum Kind: UInt8 {
    /// A message of the protocol. If it is an update, it contains the changes since the previous
    /// update.
    case message = 1
    /// A part of a complete update. A replay can begin at a complete update.
    case snapshot = 2
    /// A list of places of the index.
    case index = 3
  }

  static let headerSize = 17

  /// The raw value of the entry's kind. A newer version may have written a kind that this version
  /// does not know.
  var kind: UInt8
  var time: MonitorTime
  var payload: [UInt8]

  init(_ kind: Kind, at time: MonitorTime, _ payload: [UInt8]) {
    (self.kind, self.time, self.payload) = (kind.rawValue, time, payload)
  }

  /// Creates an entry from the bytes after the checksum; `nil` if the checksum does not match the
  /// bytes.
  init?(checksum: UInt32, _ bytes: [UInt8]) {
    guard Checksum.of(bytes) == checksum,
      let kind = bytes.first, let time = Int64(littleEndianBytes: bytes.dropFirst().prefix(8))
    else { return nil }
    self.kind = kind
    self.time = MonitorTime(wire: time)
    payload = Array(bytes.dropFirst(9))
  }

  func append(to bytes: inout [UInt8]) {
    let body = [kind] + time.nanoseconds.littleEndianBytes + payload
    bytes += UInt32(payload.count).littleEndianBytes
    bytes += Checksum.of(body).littleEndianBytes
    bytes += body
  }
}

/// The checksum CRC-32 of ISO 3309, which PNG and gzip also use.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { sum, _ in
      sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320
    }
  }

  static func of(_ bytes: [UInt8]) -> UInt32 {
    let sum = table.withUnsafeBufferPointer { table in
      bytes.withUnsafeBufferPointer { bytes in
        bytes.reduce(UInt32.max) { sum, byte in
          sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)]
        }
      }
    }
    return ~sum
  }
}

extension FixedWidthInteger {
  /// The bytes of the integer, the lowest byte first.
  var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }

  /// Creates a number from its bytes, the lowest byte first; `nil` if the number of bytes is not
  /// the size of the type.
  init?(littleEndianBytes bytes: some Collection<UInt8>) {
    guard bytes.count == Self.bitWidth / 8 else { return nil }
    var number: Self = 0
    withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: bytes) }
    self = Self(littleEndian: number)
  }
}
