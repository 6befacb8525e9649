// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import MonitorTestSupport
import Testing

@testable import OpqTop

@Suite struct PlaybackClockTests {
  private func at(_ seconds: Double) -> MonitorTime { ReplayScene.time(seconds) }

  @Test func theClockRunsFromTheStartToTheEnd() {
    let clock = PlaybackClock(start: at(100), end: at(110), at: at(7))
    #expect(clock.time(at: at(7)) == at(100))
    #expect(clock.time(at: at(9.5)) == at(102.5))
    #expect(clock.time(at: at(30)) == at(110))
    // If a caller passes a local time before the start of the playback, the result is the start of
    // the recording.
    #expect(clock.time(at: at(1)) == at(100))
  }

  @Test(arguments: [(-2, 0.25), (-1, 0.5), (0, 1), (1, 2), (6, 64)])
  func theClockRunsFasterAndSlower(doublings: Int, factor: Double) {
    var clock = PlaybackClock(start: at(0), end: at(1_000), at: at(0))
    clock.changeSpeed(by: doublings, at: at(8))
    #expect(clock.time(at: at(8)) == at(8))
    #expect(clock.time(at: at(12)) == at(8 + 4 * factor))
    // `moment(of:)` returns the local time at which the playback reaches a recorded time.
    let time = at(8.123_456_789)
    if let moment = clock.moment(of: time) {
      #expect(clock.time(at: moment) >= time)
      #expect(clock.time(at: moment) - time < .microseconds(1))
    } else {
      Issue.record("it runs")
    }
  }

  @Test func theSpeedHasLimits() {
    var clock = PlaybackClock(start: at(0), end: at(10), at: at(0))
    #expect(clock.changeSpeed(by: 100, at: at(0)) == true)
    #expect(clock.speed == 6)
    #expect(clock.changeSpeed(by: 1, at: at(0)) == false)
    #expect(clock.changeSpeed(by: -100, at: at(0)) == true)
    #expect(clock.speed == -2)
    #expect(clock.changeSpeed(by: -1, at: at(0)) == false)
  }

  @Test func theClockStopsAndIsSet() {
    var clock = PlaybackClock(start: at(0), end: at(10), at: at(0))
    clock.setRunning(false, at: at(3))
    #expect(clock.time(at: at(9)) == at(3))
    #expect(clock.moment(of: at(4)) == nil)
    clock.set(to: at(20), at: at(9))
    #expect(clock.time(at: at(9)) == at(10))
    clock.set(to: at(-1), at: at(9))
    clock.setRunning(true, at: at(9))
    #expect(clock.time(at: at(10)) == at(1))
    clock.setEnd(at(0.5), at: at(10))
    #expect(clock.time(at: at(10)) == at(0.5))
  }
}
