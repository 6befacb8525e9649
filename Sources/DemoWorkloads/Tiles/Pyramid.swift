// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Synchronization

/// The data that the operations of one pyramid share: the plan, and the results so far.
///
/// Any thread may call any method. It retains no operation, so that a pyramid's operations are deallocated
/// when the last of them ends.
final class Pyramid: Sendable {
  let plan: PyramidPlan
  /// The directory of the pyramid's files, without a slash at the end.
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

  /// The result of writing an image; an operation that never ran leaves no result.
  enum FileResult: Equatable, Sendable {
    case written(bytes: Int)
    /// The operation that makes the image was cancelled, so nothing was written.
    case noImage
    /// The system reported an error.
    case failed(SystemError)
  }

  /// Starts to measure the time of an operation that is planned to take this long at speed 1.
  func pacer(for duration: Duration) -> Pacer { Pacer(duration: pacing.time(for: duration)) }

  /// Returns the real time for a planned time.
  func time(for duration: Duration) -> Duration { pacing.time(for: duration) }

  /// Returns the image if it has been made and not been dropped yet.
  func image(_ name: ImageName) -> Image? { state.withLock { $0.images[name] } }

  func keep(_ image: Image, as name: ImageName) { state.withLock { $0.images[name] = image } }

  /// Frees the memory of the images, after all operations that draw or write.
  func dropImages() { state.withLock { $0.images = [:] } }

  func record(_ result: FileResult, of image: ImageName) {
    if case .failed(let error) = result { failures.note(path(of: "\(image)"), error) }
    state.withLock { $0.files[image] = result }
  }

  func fileResult(of image: ImageName) -> FileResult? { state.withLock { $0.files[image] } }

  func recordUpload(of image: ImageName) { state.withLock { _ = $0.uploads.insert(image) } }

  /// Writes `index.json`.
  func writeIndex() {
    write(PyramidIndex.text(plan: plan, files: state.withLock(\.files)), to: "index.json")
  }

  /// Writes `published.json`.
  func writePublication() { write(publication(), to: "published.json") }

  /// Returns the text of `published.json`.
  func publication() -> String {
    PyramidIndex.publication(plan: plan, uploads: state.withLock(\.uploads))
  }

  /// Returns the path of a file of the pyramid.
  func path(of name: String) -> String { "\(directory)/\(name)" }

  private func write(_ text: String, to name: String) {
    let path = path(of: name)
    do { try PartialFile.create(path, with: text) } catch { failures.note(path, error) }
  }
}
