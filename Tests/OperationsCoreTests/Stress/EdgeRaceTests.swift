// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore
import TestSupport
import Testing

@Suite("Races of many dependencies", .oneAtATime)
struct EdgeRaceTests {
  @Test(
    "DE-5, DE-6, DE-9, DE-14: threads change many dependencies of the same operations while they run",
    arguments: [3, 8, 20, 40, 70])
  func changesWhileTheQueueRuns(edgeCount: Int) async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      for round in 0..<Effort.scaled(500) {
        let race = EdgeRace(edgeCount: edgeCount, seed: seed &+ UInt64(round))
        race.run()
        guard let finding = race.findings.first else { continue }
        Issue.record("Round \(round): \(finding)")
        return
      }
    }
  }
}
