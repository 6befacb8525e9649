// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import TestSupport
import Testing

@Suite("Random programs against the model", .serialized)
struct ModelTests {
  @Test("first")
  func first() async throws {
    let seed = SeededGenerator.announcedSeed()
    try await onOwnThread {
      var time = Duration.zero
      for round in 0..<Effort.scaled(1_000) {
        let program = ProgramGenerator.program(seed: seed &+ UInt64(round))
        let begin = ContinuousClock.now
        if let discrepancy = LockStepRun(patience: .seconds(2)).discrepancy(in: program) {
          Issue.record("seed \(seed &+ UInt64(round)) \(discrepancy)\n\(program)")
          return
        }
        time += ContinuousClock.now - begin
      }
      print("time", time)
    }
  }
}
