// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that lists the uploaded images of a tile pyramid in the file `published.json`.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class PublishPyramidOperation: Operation, @unchecked Sendable {
  private let pyramid: Pyramid
  private let duration: Duration

  init(of pyramid: Pyramid, duration: Duration) {
    self.pyramid = pyramid
    self.duration = duration
  }

  override func main() {
    pyramid.pacer(for: duration).wait(forShare: 1) { isCancelled }
    guard !isCancelled else { return }
    pyramid.writePublication()
  }
}

/// An operation that lists the images of a tile pyramid in the file `index.json`, and removes the images from
/// memory.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class IndexPyramidOperation: Operation, @unchecked Sendable {
  private let pyramid: Pyramid
  private let duration: Duration

  init(of pyramid: Pyramid, duration: Duration) {
    self.pyramid = pyramid
    self.duration = duration
  }

  override func main() {
    pyramid.pacer(for: duration).wait(forShare: 1) { isCancelled }
    guard !isCancelled else { return }
    pyramid.dropImages()
    pyramid.writeIndex()
  }
}

/// An operation that removes the files of a tile pyramid that is no longer needed.
// Sendable is unchecked because the superclass is open; all stored properties are constants of
// Sendable types.
final class RemovePyramidOperation: Operation, @unchecked Sendable {
  private let directory: String

  init(directory: String) { self.directory = directory }

  override func main() { FileSystem.removeTree(directory) }
}
