// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The format of a recording.
///
/// A recording begins with ``magic`` and the major and minor version. Entries follow, the first of
/// which is the greeting. Then come the entries of an index, and at the end the offset of the index.
/// Numbers are in little-endian byte order.
enum RecordingFormat {
  /// The version that is written. A minor version adds kinds of entries and of places, which older
  /// readers skip.
  static let versions = ProtocolVersions(major: 1, minor: 0)
  static let magic = Array("OPQREC".utf8)
  /// The last bytes of a complete recording.
  static let endMagic = Array("OPQEND".utf8)
  /// The magic and the two versions, 4 bytes each.
  static let headerSize = 14
  /// The 8 bytes of the index's offset, and ``endMagic``.
  static let trailerSize = 14
}

/// One entry of a recording: the length of its payload in 4 bytes, a checksum in 4, its kind in 1,
/// its time in 8, and the payload. The checksum covers everything after it.
struct RecordingEntry: Equatable {
  /// The kind of the payload.
  enum Kind: UInt8 {
    /// A message of the protocol. An update holds the changes since the previous one.
    case message = 1
    /// A part of a complete update, at which a replay can begin.
    case snapshot = 2
    /// Places of the index.
    case index = 3
  }

  static let headerSize = 17

  /// The raw value of the kind, which may be of a newer version.
  var kind: UInt8
  var time: MonitorTime
  var payload: [UInt8]

  init(_ kind: Kind, at time: MonitorTime, _ payload: [UInt8]) {
    (self.kind, self.time, self.payload) = (kind.rawValue, time, payload)
  }

  /// Reads the bytes after the checksum; `nil` if the checksum does not match.
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

/// The checksum CRC-32 of ISO 3309, as in PNG and gzip.
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
  /// The bytes of the number, the lowest first.
  var littleEndianBytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }

  /// Reads the number; `nil` if the count of bytes differs from its size.
  init?(littleEndianBytes bytes: some Collection<UInt8>) {
    guard bytes.count == Self.bitWidth / 8 else { return nil }
    var number: Self = 0
    withUnsafeMutableBytes(of: &number) { $0.copyBytes(from: bytes) }
    self = Self(littleEndian: number)
  }
}
