// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that encodes an image as PNG and writes it to a file. It writes the file in slices, as a slow
/// disk would.
///
/// The file appears only when it is complete. If the image does not exist, the operation writes no file, and
/// stores this result in the tile pyramid.
// Sendable is unchecked because the superclass is open; all stored properties are constants of Sendable
// types.
final class WriteImageOperation: Operation, @unchecked Sendable {
  private let image: ImageName
  private let pyramid: Pyramid
  private let duration: Duration

  init(image: ImageName, of pyramid: Pyramid, duration: Duration) {
    self.image = image
    self.pyramid = pyramid
    self.duration = duration
  }

  override func main() {
    guard let content = pyramid.image(image) ?? substitute else {
      pyramid.record(.noImage, of: image)
      return
    }
    let pacer = pyramid.pacer(for: duration)
    let bytes = PNGEncoder.encode(content)
    do {
      let file = try PartialFile(path: pyramid.path(of: "\(image)"))
      let sliceSize = (bytes.count + Self.sliceCount - 1) / Self.sliceCount
      for slice in 0..<Self.sliceCount {
        let start = min(slice * sliceSize, bytes.count)
        try file.append(bytes[start..<min(start + sliceSize, bytes.count)])
        pacer.wait(forShare: Double(slice + 1) / Double(Self.sliceCount)) { isCancelled }
        guard !isCancelled else { return }
        reportProgress(completed: slice + 1, of: Self.sliceCount)
      }
      try file.commit()
      pyramid.record(.written(bytes: bytes.count), of: image)
    } catch {
      pyramid.record(.failed(error), of: image)
    }
  }

  /// The image to write if no calibrated picture exists: the whole picture before its contrast was
  /// calibrated. It is `nil` if the operation writes a tile, or if this picture does not exist either.
  private var substitute: Image? {
    image == .picture ? pyramid.image(.tile(.whole)) : nil
  }

  private static let sliceCount = 16
}

/// The error of a demo disk that is busy.
struct DiskIsBusy: Error, CustomStringConvertible {
  var description: String { "the disk is busy" }
}

extension WriteImageOperation {
  /// Returns an operation that writes an image at its second attempt. The first attempt fails in the middle,
  /// because the disk is busy.
  static func retry(image: ImageName, of pyramid: Pyramid, duration: Duration) -> Operation {
    let sliceTime = pyramid.time(for: duration) / sliceCount
    let retry = RetryOperation(
      maximumAttempts: 3, delay: { pyramid.time(for: .seconds($0)) }
    ) { attempt in
      AsyncOperation {
        for slice in 1...sliceCount {
          try await Task.sleep(for: sliceTime)
          if attempt == 1, slice > sliceCount / 2 { throw DiskIsBusy() }
          Operation.current?.reportProgress(completed: slice, of: sliceCount)
        }
        // The time of the writing has passed already.
        WriteImageOperation(image: image, of: pyramid, duration: .zero).start()
      }
    }
    retry.kind = "WriteImageOperation"
    return retry
  }
}
