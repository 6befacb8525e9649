// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import TestSupport
import Testing

@testable import OpqTop

@Suite("When squeue is called") struct SlurmPollingTests {
  private func time(_ seconds: Double) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds * 1e9))
  }

  /// Returns whether a call begins at a time.
  private func begins(at seconds: Double, _ polling: inout SlurmPolling) -> Bool {
    polling.begin(at: time(seconds))
  }

  @Test("SV-9: The first call is at once, and the next one ten seconds after its start")
  func interval() {
    var polling = SlurmPolling()
    #expect(polling.nextStart(at: time(3)) == time(3))
    #expect(begins(at: 3, &polling))
    #expect(polling.nextStart(at: time(4)) == nil && !begins(at: 20, &polling))
    polling.end()
    #expect(polling.nextStart(at: time(5)) == time(13))
    #expect(!begins(at: 12.9, &polling))
    #expect(begins(at: 13, &polling))
  }

  @Test("SV-9: A command permits one early call, a second after the last one")
  func command() {
    var polling = SlurmPolling()
    _ = polling.begin(at: time(0))
    polling.end()
    polling.noteCommand()
    #expect(!begins(at: 0.9, &polling) && begins(at: 1, &polling))
    polling.end()
    #expect(polling.nextStart(at: time(2)) == time(11))
  }

  @Test("SV-9: A command during a call permits another call, because the call may not show it")
  func commandDuringCall() {
    var polling = SlurmPolling()
    _ = polling.begin(at: time(0))
    polling.noteCommand()
    polling.end()
    #expect(polling.nextStart(at: time(0.5)) == time(1))
  }

  @Test("SV-10: If a call has no answer for ten seconds, the source is silent")
  func silence() {
    var polling = SlurmPolling()
    _ = polling.begin(at: time(0))
    #expect(polling.silence(at: time(9)) == nil)
    #expect(polling.silence(at: time(12)) == .seconds(12))
    polling.end()
    #expect(polling.silence(at: time(13)) == nil)
  }

  @Test("SV-9: Random commands never cause more calls than permitted")
  func randomCommands() {
    let seed = SeededGenerator.announcedSeed()
    var generator = SeededGenerator(seed: seed)
    var polling = SlurmPolling()
    var starts: [Double] = []
    var commandCount = 0
    for step in 0..<5_000 {
      let now = Double(step) / 10
      if Int.random(in: 0..<50, using: &generator) == 0 {
        polling.noteCommand()
        commandCount += 1
      }
      if polling.begin(at: time(now)) { starts.append(now) }
      if Int.random(in: 0..<5, using: &generator) == 0 { polling.end() }
    }
    let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 >= 0.999 }, "seed \(seed)")
    #expect(gaps.count { $0 < 9.999 } <= commandCount, "seed \(seed)")
  }
}
