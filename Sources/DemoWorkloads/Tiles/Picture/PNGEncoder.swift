// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Encodes pictures as PNG (ISO 15948) with 8 bits for each channel. It uses no library and no compression.
///
/// The pixels are stored in deflate blocks without compression (RFC 1951, section 3.2.4). Therefore the size
/// of a file depends only on the size of its picture.
enum PNGEncoder {
  /// Returns the bytes of a PNG file that shows `image`.
  static func encode(_ image: Image) -> [UInt8] {
    var file: [UInt8] = []
    file.reserveCapacity(encodedSize(side: image.side))
    file += signature
    let side = UInt32(image.side)
    let bitDepth: UInt8 = 8
    let trueColor: UInt8 = 2
    // The header chunk of a PNG file ends with three bytes that are 0. They mean deflate, adaptive filtering,
    // and no interlacing.
    appendChunk("IHDR", side.octets + side.octets + [bitDepth, trueColor, 0, 0, 0], to: &file)
    appendChunk("IDAT", deflated(scanlines(of: image)), to: &file)
    appendChunk("IEND", [], to: &file)
    return file
  }

  /// Returns the size, in bytes, of a file from `encode(_:)` for a picture with this side.
  static func encodedSize(side: Int) -> Int {
    let lines = side * (side * 3 + 1)
    let blocks = max(1, (lines + largestBlock - 1) / largestBlock)
    let zlib = 2 + blocks * 5 + lines + 4
    let chunkOverhead = 12
    return signature.count + (13 + chunkOverhead) + (zlib + chunkOverhead) + chunkOverhead
  }

  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// The maximum number of bytes in a stored deflate block.
  static let largestBlock = 65535

  /// Returns the rows of the picture. Each row begins with a 0, which means that the row is not filtered.
  private static func scanlines(of image: Image) -> [UInt8] {
    var lines: [UInt8] = []
    lines.reserveCapacity(image.side * (image.side * 3 + 1))
    for row in 0..<image.side {
      lines.append(0)
      lines += image.row(row)
    }
    return lines
  }

  /// Returns a zlib stream (RFC 1950) that consists of stored deflate blocks.
  static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    // The first two bytes of the zlib stream mean deflate with a 32 KiB window at the fastest level. Their
    // value 0x7801 is a multiple of 31, as zlib requires.
    var stream: [UInt8] = [0x78, 0x01]
    stream.reserveCapacity(bytes.count + (bytes.count / largestBlock + 1) * 5 + 6)
    var start = 0
    repeat {
      let end = min(start + largestBlock, bytes.count)
      let length = UInt16(end - start)
      // The first byte of a stored deflate block is 1 if the block is the last one. The length of the block
      // and the complement of the length follow, each with the low byte first.
      stream.append(end == bytes.count ? 1 : 0)
      for half in [length, ~length] {
        stream.append(UInt8(truncatingIfNeeded: half))
        stream.append(UInt8(truncatingIfNeeded: half >> 8))
      }
      stream += bytes[start..<end]
      start = end
    } while start < bytes.count
    var checksum = Adler32()
    checksum.update(bytes)
    return stream + checksum.value.octets
  }

  private static func appendChunk(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
    var checksum = CRC32()
    checksum.update(type.utf8)
    checksum.update(content)
    file += UInt32(content.count).octets
    file += type.utf8
    file += content
    file += checksum.value.octets
  }
}

extension UInt32 {
  /// The four bytes of the number with the highest byte first, as PNG and zlib require.
  var octets: [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) }
  }
}
