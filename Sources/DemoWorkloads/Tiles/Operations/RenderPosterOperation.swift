// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations

/// An operation that renders a poster and writes it to a file. It reports each row of pixels as its progress.
///
/// After each row of pixels, it checks whether it was cancelled. A cancelled poster is not written.
// Sendable is unchecked because the superclass is open; all stored properties are constants of Sendable
// types.
final class RenderPosterOperation: Operation, @unchecked Sendable {
  private let plan: PosterPlan
  private let path: String
  private let pacing: Pacing
  private let failures: WriteFailures

  /// Creates the operation of a plan. An existing file at the path is replaced.
  init(_ plan: PosterPlan, path: String, pacing: Pacing, failures: WriteFailures) {
    self.plan = plan
    self.path = path
    self.pacing = pacing
    self.failures = failures
    super.init()
    name = plan.name
    queuePriority = .high
    qualityOfService = .utility
  }

  override func main() {
    let pacer = Pacer(duration: pacing.time(for: plan.duration))
    let side = plan.renderer.side
    var bytes: [UInt8] = []
    bytes.reserveCapacity(side * side * 3)
    reportStatus("drawing")
    for row in 0..<side {
      bytes += plan.renderer.row(row)
      pacer.wait(forShare: Double(row + 1) / Double(side)) { isCancelled }
      guard !isCancelled else { return }
      reportProgress(completed: row + 1, of: side)
    }
    reportStatus("writing")
    do {
      let file = try PartialFile(path: path)
      try file.append(PNGEncoder.encode(Image(side: side, bytes: bytes))[...])
      try file.commit()
    } catch {
      failures.note(path, error)
    }
  }
}
