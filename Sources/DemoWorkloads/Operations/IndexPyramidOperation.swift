// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// Lists the images of a pyramid in `index.json`, and frees their memory.
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

/// Says in `published.json` which images of a pyramid were uploaded.
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

/// Removes the files of a pyramid that nobody needs any more.
final class RemovePyramidOperation: Operation, @unchecked Sendable {
  private let directory: String

  init(directory: String) { self.directory = directory }

  override func main() { FileSystem.removeTree(directory) }
}
