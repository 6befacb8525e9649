// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Creates JSON texts about the images of a tile pyramid.
///
/// The JSON is written without an encoder. No string in it needs escaping, because all names are chosen by
/// the program.
enum PyramidIndex {
  /// Returns a JSON text with the place of the picture and the list of images.
  static func text(plan: PyramidPlan, files: [ImageName: Pyramid.FileResult]) -> String {
    let images = plan.images.map { image in
      let (state, bytes) = description(of: files[image])
      return """
            {"file": "\(image)", "side": \(plan.side(of: image)), \
        "bytes": \(bytes), "state": "\(state)"}
        """
    }
    return """
      {
        "pyramid": \(plan.number),
        "seed": \(plan.seed),
        "place": "\(plan.placeName)",
        "center": [\(plan.region.centerReal), \(plan.region.centerImaginary)],
        "width": \(plan.region.width),
        "palette": "\(plan.palette.name)",
        "picture": "\(ImageName.picture)",
        "images": [
      \(images.joined(separator: ",\n"))
        ]
      }

      """
  }

  /// Returns a JSON text with the images that were uploaded.
  static func publication(plan: PyramidPlan, uploads: Set<ImageName>) -> String {
    let missing = plan.images.filter { !uploads.contains($0) }.map { "\"\($0)\"" }
    return """
      {
        "pyramid": \(plan.number),
        "uploaded": \(uploads.count),
        "missing": [\(missing.joined(separator: ", "))]
      }

      """
  }

  private static func description(of result: Pyramid.FileResult?) -> (state: String, bytes: Int) {
    switch result {
    case .written(let bytes): ("written", bytes)
    case .noImage: ("no image", 0)
    case .failed: ("failed", 0)
    case nil: ("cancelled", 0)
    }
  }
}
