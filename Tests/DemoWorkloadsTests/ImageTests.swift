// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct ImageTests {
  private let grey = Color(red: 9, green: 9, blue: 9)

  private func dot(_ value: UInt8) -> Image { Image(side: 1, bytes: [value, value, value]) }

  @Test func fourQuartersAreJoinedInTheRightOrder() {
    let joined = Image.joining([dot(1), dot(2), dot(3), dot(4)], side: 1, missing: grey)
    #expect(joined == Image(side: 2, bytes: [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]))
  }

  @Test func aMissingQuarterIsFlat() {
    let joined = Image.joining([dot(1), nil, dot(3), nil], side: 1, missing: grey)
    #expect(joined == Image(side: 2, bytes: [1, 1, 1, 9, 9, 9, 3, 3, 3, 9, 9, 9]))
  }

  @Test func aQuarterOfAnotherSizeCountsAsMissing() {
    let wrong = Image(side: 2, filledWith: grey)
    let joined = Image.joining([wrong, dot(2), dot(3), dot(4)], side: 1, missing: grey)
    #expect(joined.row(0) == [9, 9, 9, 2, 2, 2])
  }

  @Test func contrastIsStretchedToTheFullRange() {
    // The image has values from 20 to 220. Of these, the darkest becomes black, and the brightest
    // becomes white.
    let bytes = (0..<300).map { (index: Int) -> UInt8 in UInt8(20 + index * 200 / 299) }
    let contrast = ContrastStretch(measuring: Image(side: 10, bytes: bytes))
    #expect(contrast.stretch(20) == 0)
    #expect(contrast.stretch(220) == 255)
    #expect(contrast.stretch(120) > 120)
  }

  @Test func contrastKeepsAFlatPictureRecognisable() {
    let contrast = ContrastStretch(measuring: Image(side: 4, filledWith: grey))
    #expect(contrast.stretch(9) == 0)
    #expect(contrast.stretch(208) == 255)
    #expect(contrast.stretch(100) < contrast.stretch(101))
  }
}
