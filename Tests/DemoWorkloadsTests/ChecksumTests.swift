// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct ChecksumTests {
  @Test(arguments: [
    ("", 0), ("123456789", 0xCBF4_3926), ("IEND", 0xAE42_6082),
    ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
  ])
  func crcMatchesPublishedValues(text: String, expected: UInt32) {
    var checksum = CRC32()
    checksum.update(text.utf8)
    #expect(checksum.value == expected)
  }

  @Test(arguments: [("", 1), ("a", 0x0062_0062), ("Wikipedia", 0x11E6_0398)])
  func adlerMatchesPublishedValues(text: String, expected: UInt32) {
    var checksum = Adler32()
    checksum.update(text.utf8)
    #expect(checksum.value == expected)
  }

  @Test func adlerOfAMillionHighBytesIsCorrect() {
    var checksum = Adler32()
    checksum.update(repeatElement(255, count: 1_000_000))
    // The expected value is that of `zlib.adler32(b"\xff" * 1000000)` in Python.
    #expect(checksum.value == 0x3843_E1BE)
  }

  @Test func partsGiveTheChecksumOfTheWhole() {
    var whole = CRC32()
    whole.update("123456789".utf8)
    var parts = CRC32()
    parts.update("1234".utf8)
    parts.update("56789".utf8)
    #expect(whole.value == parts.value)
  }
}
