// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

extension Shape: CustomTestStringConvertible {
  var testDescription: String { name }
}

@Suite("Subclass shapes as libraries have them", .oneAtATime)
struct ShapeTests {
  @Test(
    "DE-1, OP-6, Q-7: no dependent starts early, none is lost and none runs twice",
    arguments: Shape.all)
  func everyDependentOnce(shape: Shape) async throws {
    let seed = SeededGenerator.announcedSeed(for: shape.name)
    try await onOwnThread {
      for variant in ShapeVariant.all {
        let report = ShapeRun(shape, variant, seed: seed).report(within: Patience.seconds)
        #expect(report.faults.isEmpty, "\(shape.name), \(variant), OPQ_SEED=\(seed): \(report)")
        // After a fault, the other settings are skipped: a run that hangs takes a long time and
        // keeps its threads.
        if !report.faults.isEmpty { return }
      }
    }
  }
}
