// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Operations
import TestSupport
import Testing

@testable import DemoWorkloads

@Suite(.timeLimit(.minutes(10))) struct RenderPosterOperationTests {
  private let scratch: TemporaryDirectory
  private let plan = PosterPlan(seed: 7, number: 1, shape: PyramidShape(leafSide: 8))

  init() throws { scratch = try TemporaryDirectory() }

  private func operation(speed: Double) -> RenderPosterOperation {
    RenderPosterOperation(
      plan, path: scratch.file("poster.png"), pacing: Pacing(speed: speed),
      failures: WriteFailures())
  }

  @Test func aPosterTakesTenToThirtySeconds() {
    #expect(plan.duration == .seconds(30))
    for seed in 0..<5 as Range<UInt64> {
      for number in 2...50 {
        let duration = PosterPlan(seed: seed, number: number).duration
        #expect(duration >= .seconds(10) && duration <= .seconds(30))
      }
    }
    #expect(PosterPlan(seed: 7, number: 4) == PosterPlan(seed: 7, number: 4))
  }

  @Test func aPosterIsWrittenWhenItIsComplete() throws {
    let poster = operation(speed: 1e6)
    #expect(poster.name == "render poster 1")
    poster.start()
    #expect(poster.name == "render poster 1" && poster.reportedStatus == "writing")
    #expect(poster.reportedProgress ?? (0, 0) == (32, 32))
    let image = try DecodedPNG(#require(scratch.contents(of: "poster.png"))).image
    #expect(image.side == 32)
    #expect(image.row(31) == plan.renderer.row(31)[...])
  }

  @Test func aPosterReportsItsRowsAndACancelledPosterIsNotWritten() async {
    // At this speed, a row of pixels takes about a quarter of a second.
    let poster = operation(speed: 4)
    let queue = OperationQueue()
    queue.addOperation(poster)
    // A busy machine may not find the first numbers.
    #expect(await eventually { poster.reportedProgress != nil })
    poster.cancel()
    #expect(await eventually { poster.isFinished })
    #expect(poster.reportedProgress?.completed != 32 && poster.reportedStatus == "drawing")
    #expect(!scratch.exists("poster.png"))
  }
}
