// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct PNGEncoderTests {
  @Test func aPictureWithOnePixelIsEncodedExactly() {
    let file = PNGEncoder.encode(Image(side: 1, bytes: [0x12, 0x34, 0x56]))
    #expect(
      file == [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A,
        // The image header (IHDR) of the PNG file: 1 x 1 pixel, 8 bits, true color.
        0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0,
        0x90, 0x77, 0x53, 0xDE,
        // The image data (IDAT) of the PNG file: a zlib stream with one stored block of 4 bytes.
        0, 0, 0, 15, 0x49, 0x44, 0x41, 0x54, 0x78, 0x01, 1, 4, 0, 0xFB, 0xFF, 0, 0x12, 0x34, 0x56,
        0x00, 0xF8, 0x00, 0x9D, 0xF8, 0xD7, 0x64, 0x8C,
        0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
      ])
  }

  @Test func aFileDecodesToItsPicture() throws {
    let image = Image(side: 2, bytes: [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7])
    let decoded = try DecodedPNG(PNGEncoder.encode(image))
    #expect(decoded.image == image)
    #expect(decoded.chunks.map(\.type) == ["IHDR", "IDAT", "IEND"])
    #expect(decoded.blockCount == 1)
  }

  @Test func aLargePictureIsSplitIntoBlocks() throws {
    let bytes = (0..<150 * 150 * 3).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let image = Image(side: 150, bytes: bytes)
    let decoded = try DecodedPNG(PNGEncoder.encode(image))
    #expect(decoded.image == image)
    #expect(decoded.blockCount == 2)
  }

  @Test func bytesThatFillTheirBlocksNeedNoEmptyOne() {
    let full = PNGEncoder.deflated([UInt8](repeating: 7, count: PNGEncoder.largestBlock))
    #expect(full.count == 2 + 5 + PNGEncoder.largestBlock + 4)
    #expect(full[2] == 1)
  }

  @Test(arguments: [1, 2, 7, 128, 147, 148, 150])
  func theSizeOfAFileIsKnownBeforeEncoding(side: Int) {
    let file = PNGEncoder.encode(Image(side: side, filledWith: MergeTilesOperation.flatGrey))
    #expect(file.count == PNGEncoder.encodedSize(side: side))
  }
}
