// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that stretches the contrast of the whole picture.
///
/// The operation runs for up to 5 s at normal speed and never checks whether it was cancelled. It shows how a
/// monitor reports work that does not stop when it is cancelled.
// Sendable is unchecked because the superclass is open; all stored properties are constants of Sendable
// types.
final class CalibratePictureOperation: Operation, @unchecked Sendable {
  private let pyramid: Pyramid
  private let duration: Duration

  init(of pyramid: Pyramid, duration: Duration) {
    self.pyramid = pyramid
    self.duration = duration
  }

  override func main() {
    guard let whole = pyramid.image(.tile(.whole)) else { return }
    let pacer = pyramid.pacer(for: duration)
    let contrast = ContrastStretch(measuring: whole)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(whole.bytes.count)
    for row in 0..<whole.side {
      for byte in whole.row(row) { bytes.append(contrast.stretch(byte)) }
      pacer.wait(forShare: Double(row + 1) / Double(whole.side)) { false }
      reportProgress(completed: row + 1, of: whole.side)
    }
    pyramid.keep(Image(side: whole.side, bytes: bytes), as: .picture)
  }
}
