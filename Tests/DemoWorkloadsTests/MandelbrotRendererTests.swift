// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import DemoWorkloads

@Suite struct MandelbrotRendererTests {
  private func renderer(_ region: Region, side: Int = 4) -> MandelbrotRenderer {
    MandelbrotRenderer(
      region: region, palette: Palette.all[0], phase: 0, iterationLimit: 200, side: side)
  }

  private func image(_ renderer: MandelbrotRenderer) -> Image {
    Image(side: renderer.side, bytes: (0..<renderer.side).flatMap(renderer.row))
  }

  @Test func pointsOfTheSetHaveTheInsideColor() {
    let inside = Palette.all[0].inside
    let drawn = image(renderer(Region(centerReal: -0.2, centerImaginary: 0, width: 0.1)))
    #expect(drawn == Image(side: 4, filledWith: inside))
  }

  @Test func aPointOutsideTheMainBodiesMayBelongToTheSetToo() {
    // A point in the disc of period 3 of the Mandelbrot set, for which the renderer has no
    // shortcut.
    let drawn = image(renderer(Region(centerReal: -0.1226, centerImaginary: 0.7449, width: 0.01)))
    #expect(drawn == Image(side: 4, filledWith: Palette.all[0].inside))
  }

  @Test func pointsFarAwayHaveAColorOfTheRing() {
    let drawn = image(renderer(Region(centerReal: 3, centerImaginary: 3, width: 0.1)))
    #expect(drawn != Image(side: 4, filledWith: Palette.all[0].inside))
  }

  @Test func theSetIsSymmetric() {
    let drawn = image(renderer(Region(centerReal: -0.6, centerImaginary: 0, width: 3), side: 8))
    for row in 0..<4 { #expect(drawn.row(row).elementsEqual(drawn.row(7 - row))) }
  }

  @Test func theJoinedTilesOfAPyramidEqualTheWholePicture() {
    let plan = PyramidPlan(seed: 7, number: 1, shape: PyramidShape(deepestLevel: 1, leafSide: 4))
    let quarters = TileCoordinate.whole.quarters.map { image(plan.renderer(of: $0)) }
    let joined = Image.joining(quarters, side: 4, missing: MergeTilesOperation.flatGrey)
    #expect(joined == image(plan.renderer(of: .whole)))
  }

  @Test func theQuartersOfARegionCoverIt() {
    let whole = Region(centerReal: 1, centerImaginary: 2, width: 4)
    let parts = TileCoordinate.whole.quarters.map(whole.part)
    #expect(parts.map(\.centerReal) == [0, 2, 0, 2])
    #expect(parts.map(\.centerImaginary) == [3, 3, 1, 1])
    #expect(parts.allSatisfy { $0.width == 2 })
  }

  @Test(arguments: Palette.all)
  func aPaletteIsCyclic(palette: Palette) {
    #expect(palette.color(at: 0.25) == palette.color(at: 3.25))
    #expect(palette.color(at: 0.25) == palette.color(at: -0.75))
    let seam = (palette.color(at: 0.9999), palette.color(at: 0))
    #expect(abs(Int(seam.0.red) - Int(seam.1.red)) <= 1)
  }
}
