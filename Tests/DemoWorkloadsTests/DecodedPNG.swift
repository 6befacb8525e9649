// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

@testable import DemoWorkloads

/// A decoded PNG file of the kind that the encoder writes: square, true color, with stored blocks.
struct DecodedPNG: Equatable {
  struct Chunk: Equatable {
    let type: String
    let content: [UInt8]
  }

  enum Malformation: Error, Equatable {
    case signature
    case truncated
    case checksum(chunk: String)
    case header([UInt8])
    case zlibHeader
    case compressed(firstByte: UInt8)
    case blockLength
    case adler
    case filter(UInt8)
  }

  let chunks: [Chunk]
  let image: Image
  /// The number of zlib blocks with pixels, which are stored without compression.
  let blockCount: Int

  init(_ file: [UInt8]) throws(Malformation) {
    guard file.starts(with: PNGEncoder.signature) else { throw .signature }
    var reader = ByteReader(bytes: file[PNGEncoder.signature.count...])
    var chunks: [Chunk] = []
    while !reader.bytes.isEmpty {
      let length = try reader.number(octets: 4)
      let typeAndContent = try reader.take(4 + length)
      var checksum = CRC32()
      checksum.update(typeAndContent)
      let chunk = Chunk(
        type: String(decoding: typeAndContent.prefix(4), as: UTF8.self),
        content: Array(typeAndContent.dropFirst(4)))
      guard try reader.number(octets: 4) == checksum.value else {
        throw .checksum(chunk: chunk.type)
      }
      chunks.append(chunk)
    }
    self.chunks = chunks
    let header = chunks.first?.content ?? []
    guard header.count == 13, header[0..<4] == header[4..<8], header[8...] == [8, 2, 0, 0, 0] else {
      throw .header(header)
    }
    let side = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
    let data = chunks.filter { $0.type == "IDAT" }.flatMap(\.content)
    let (lines, blockCount) = try Self.inflate(data)
    self.blockCount = blockCount
    var pixels: [UInt8] = []
    var rest = ByteReader(bytes: lines[...])
    for _ in 0..<side {
      let filter = try rest.number(octets: 1)
      guard filter == 0 else { throw .filter(UInt8(filter)) }
      pixels += try rest.take(side * 3)
    }
    guard rest.bytes.isEmpty else { throw .truncated }
    image = Image(side: side, bytes: pixels)
  }

  /// Decodes a zlib stream that consists of stored (uncompressed) blocks.
  private static func inflate(_ stream: [UInt8]) throws(Malformation) -> ([UInt8], blocks: Int) {
    var reader = ByteReader(bytes: stream[...])
    let header = try reader.number(octets: 2)
    guard header % 31 == 0, header >> 8 == 0x78 else { throw .zlibHeader }
    var bytes: [UInt8] = []
    var blocks = 0
    var isLast = false
    while !isLast {
      let first = try reader.number(octets: 1)
      guard first <= 1 else { throw .compressed(firstByte: UInt8(first)) }
      isLast = first == 1
      let lengths = try Array(reader.take(4))
      let length = Int(lengths[0]) | Int(lengths[1]) << 8
      guard length ^ 0xFFFF == Int(lengths[2]) | Int(lengths[3]) << 8 else { throw .blockLength }
      bytes += try reader.take(length)
      blocks += 1
    }
    var checksum = Adler32()
    checksum.update(bytes)
    guard try reader.number(octets: 4) == checksum.value, reader.bytes.isEmpty else {
      throw .adler
    }
    return (bytes, blocks)
  }
}

/// A reader that removes bytes from the front of its data.
private struct ByteReader {
  var bytes: ArraySlice<UInt8>

  mutating func take(_ count: Int) throws(DecodedPNG.Malformation) -> ArraySlice<UInt8> {
    guard bytes.count >= count else { throw .truncated }
    defer { bytes = bytes.dropFirst(count) }
    return bytes.prefix(count)
  }

  /// Removes a number of `octets` bytes, the most significant byte first, from the front of the
  /// data, and returns it.
  mutating func number(octets: Int) throws(DecodedPNG.Malformation) -> Int {
    try take(octets).reduce(0) { $0 << 8 | Int($1) }
  }
}
