// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import opq_top

@Suite struct FramePacerTests {
  private let start = MonitorTime(nanoseconds: 1_000_000_000)

  @Test("T47: Nothing is drawn where nothing has changed")
  func nothingIsDrawnWithoutChange() {
    var pacer = FramePacer()
    #expect(pacer.nextFrame(after: start) == nil)
    pacer.noteChange()
    pacer.drew(at: start)
    #expect(pacer.nextFrame(after: start) == nil)
  }

  @Test func changesAreDrawnOnceAnInterval() {
    var pacer = FramePacer(interval: .milliseconds(30))
    pacer.noteChange()
    #expect(pacer.nextFrame(after: start) == start)
    pacer.drew(at: start)
    pacer.noteChange()
    #expect(pacer.nextFrame(after: start + .milliseconds(1)) == start + .milliseconds(30))
  }

  @Test func whatAKeyDidIsDrawnAtOnce() {
    var pacer = FramePacer(interval: .milliseconds(30))
    pacer.noteChange()
    pacer.drew(at: start)
    pacer.noteInput()
    #expect(pacer.nextFrame(after: start + .milliseconds(1)) == start + .milliseconds(1))
  }

  @Test(arguments: [
    ("0.5", Duration.milliseconds(500)), ("500ms", .milliseconds(500)), ("1s", .seconds(1)),
    ("2", .seconds(2)), ("1.5s", .milliseconds(1500)),
  ])
  func anIntervalIsReadInSecondsOrMilliseconds(text: String, duration: Duration) {
    #expect(Interval(argument: text)?.duration == duration)
  }

  @Test(arguments: ["", "s", "ms", "-1", "0", "1m", "nan", "inf", "1e3", "0x10", "5ms", "1..2"])
  func whatIsNoIntervalIsRefused(text: String) {
    #expect(Interval(argument: text) == nil)
  }
}
