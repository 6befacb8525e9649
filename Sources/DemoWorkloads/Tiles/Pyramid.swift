// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The data that the operations of a tile pyramid share: the plan of the pyramid, and the results of the
/// operations that have finished.
///
/// Any thread may call any method. A tile pyramid does not retain its operations, so that all of them are
/// deallocated when the last operation ends.
final class Pyramid: Sendable {
  let plan: PyramidPlan
  /// The directory of the tile pyramid's files, without a slash at the end.
  let directory: String
  private let pacing: Pacing
  private let failures: WriteFailures
  private let state = Mutex(State())

  private struct State {
    var images: [ImageName: Image] = [:]
    var files: [ImageName: FileResult] = [:]
    var uploads: Set<ImageName> = []
  }

  init(
    plan: PyramidPlan, directory: String, pacing: Pacing, failures: WriteFailures = WriteFailures()
  ) {
    self.plan = plan
    self.directory = directory
    self.pacing = pacing
    self.failures = failures
  }

  /// The result of writing an image to a file. An operation that never ran has no result.
  enum FileResult: Equatable, Sendable {
    case written(bytes: Int)
    /// Nothing was written, because the operation that makes the image was cancelled.
    case noImage
    /// The image was not written, because the system reported this error.
    case failed(SystemError)
  }

  /// Returns a pacer that makes an operation last for the given duration at normal speed. The time is
  /// measured from this call on.
  func pacer(for duration: Duration) -> Pacer { Pacer(duration: pacing.time(for: duration)) }

  /// Converts a planned duration to a real duration, which depends on the speed of the workload.
  func time(for duration: Duration) -> Duration { pacing.time(for: duration) }

  /// Returns an image; `nil` if it was not made or was already removed from memory.
  func image(_ name: ImageName) -> Image? { state.withLock { $0.images[name] } }

  func keep(_ image: Image, as name: ImageName) { state.withLock { $0.images[name] = image } }

  /// Removes the images from memory. The caller must wait until all operations that draw or write the images
  /// have finished.
  func dropImages() { state.withLock { $0.images = [:] } }

  func record(_ result: FileResult, of image: ImageName) {
    if case .failed(let error) = result { failures.note(path(of: "\(image)"), error) }
    state.withLock { $0.files[image] = result }
  }

  func fileResult(of image: ImageName) -> FileResult? { state.withLock { $0.files[image] } }

  func recordUpload(of image: ImageName) { state.withLock { _ = $0.uploads.insert(image) } }

  /// Writes the file `index.json`, which lists the images of the tile pyramid.
  func writeIndex() {
    write(PyramidIndex.text(plan: plan, files: state.withLock(\.files)), to: "index.json")
  }

  /// Writes the file `published.json`, which lists the uploaded images of the tile pyramid.
  func writePublication() { write(publication(), to: "published.json") }

  /// Returns the contents of the file `published.json`.
  func publication() -> String {
    PyramidIndex.publication(plan: plan, uploads: state.withLock(\.uploads))
  }

  /// Returns the path of a file of the tile pyramid.
  func path(of name: String) -> String { "\(directory)/\(name)" }

  private func write(_ text: String, to name: String) {
    let path = path(of: name)
    do { try PartialFile.create(path, with: text) } catch { failures.note(path, error) }
  }
}
