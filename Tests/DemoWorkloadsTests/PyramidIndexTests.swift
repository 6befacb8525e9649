// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationEssentials
import Testing

@testable import DemoWorkloads

@Suite struct PyramidIndexTests {
  private struct Index: Decodable {
    struct Image: Decodable {
      let file: String
      let side: Int
      let bytes: Int
      let state: String
    }

    let pyramid: Int
    let seed: UInt64
    let place: String
    let center: [Double]
    let width: Double
    let palette: String
    let picture: String
    let images: [Image]
  }

  private struct Publication: Decodable {
    let pyramid: Int
    let uploaded: Int
    let missing: [String]
  }

  private let plan = PyramidPlan(
    seed: .max, number: 3, shape: PyramidShape(deepestLevel: 1, leafSide: 4))

  private func decode<Value: Decodable>(_ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  @Test func theIndexContainsTheRegionOfThePicture() throws {
    let index: Index = try decode(PyramidIndex.text(plan: plan, files: [:]))
    #expect(index.pyramid == 3)
    #expect(index.seed == .max)
    #expect(index.place == plan.placeName)
    #expect(index.center == [plan.region.centerReal, plan.region.centerImaginary])
    #expect(index.width == plan.region.width)
    #expect(index.palette == plan.palette.name)
    #expect(index.picture == "pyramid.png")
  }

  @Test func theIndexContainsTheStateOfEachImage() throws {
    let tiles = TileCoordinate.whole.quarters.map(ImageName.tile)
    let files: [ImageName: Pyramid.FileResult] = [
      tiles[0]: .written(bytes: 12), tiles[1]: .noImage, tiles[2]: .failed(SystemError(code: 28)),
    ]
    let index: Index = try decode(PyramidIndex.text(plan: plan, files: files))
    #expect(
      index.images.map(\.file) == [
        "1/0/0.png", "1/1/0.png", "1/0/1.png", "1/1/1.png", "0/0/0.png", "pyramid.png",
      ])
    #expect(index.images.map(\.side) == [4, 4, 4, 4, 8, 8])
    #expect(index.images.prefix(4).map(\.state) == ["written", "no image", "failed", "cancelled"])
    #expect(index.images.prefix(4).map(\.bytes) == [12, 0, 0, 0])
  }

  @Test func thePublicationListsMissingImages() throws {
    let uploads = Set(plan.images.dropFirst(2))
    let text = PyramidIndex.publication(plan: plan, uploads: uploads)
    let publication: Publication = try decode(text)
    #expect(publication.pyramid == 3)
    #expect(publication.uploaded == 4)
    #expect(publication.missing == ["1/0/0.png", "1/1/0.png"])
  }
}
