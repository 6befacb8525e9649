// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import OpqTop

@Suite struct FramePacerTests {
  private let start = MonitorTime(nanoseconds: 1_000_000_000)

  @Test("T47: Nothing is drawn if nothing has changed")
  func nothingIsDrawnWithoutChange() {
    var pacer = FramePacer()
    #expect(pacer.nextFrame(after: start) == nil)
    pacer.noteNews()
    pacer.drew(at: start)
    #expect(pacer.nextFrame(after: start) == nil)
  }

  @Test func updatesAreDrawnOncePerInterval() {
    var pacer = FramePacer(interval: .milliseconds(30))
    pacer.noteNews()
    #expect(pacer.nextFrame(after: start) == start)
    pacer.drew(at: start)
    pacer.noteNews()
    #expect(pacer.nextFrame(after: start + .milliseconds(1)) == start + .milliseconds(30))
  }

  @Test func keysAreDrawnAtOnce() {
    var pacer = FramePacer(interval: .milliseconds(30))
    pacer.noteNews()
    pacer.drew(at: start)
    pacer.noteInput(at: start + .milliseconds(1))
    #expect(pacer.nextFrame(after: start + .milliseconds(1)) == start + .milliseconds(1))
  }

  @Test func reactionsDoNotWaitForALongInterval() {
    var pacer = FramePacer(interval: .seconds(10))
    pacer.drew(at: start)
    pacer.noteNews()
    #expect(pacer.nextFrame(after: start + .seconds(1)) == start + .seconds(10))
    pacer.noteReaction()
    #expect(pacer.nextFrame(after: start + .seconds(1)) == start + FramePacer.defaultInterval)
    pacer.drew(at: start + .seconds(1))
    #expect(pacer.nextFrame(after: start + .seconds(2)) == nil)
  }

  @Test func answersToKeysAreDrawnOnArrival() {
    var pacer = FramePacer(interval: .seconds(10))
    pacer.noteInput(at: start)
    pacer.drew(at: start)
    pacer.noteNews()
    let soon = start + .milliseconds(20)
    #expect(pacer.nextFrame(after: soon) == start + FramePacer.defaultInterval)
    #expect(pacer.nextFrame(after: start + FramePacer.answerTime) == start + .seconds(10))
  }
}
