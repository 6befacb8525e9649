// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@testable import Dashboard

@Suite("Numbers and times in words")
struct WordsTests {
  private let unicode = Glyphs(isUnicode: true)

  @Test(
    arguments: [
      (0, 1, "0"), (9_999, 5, "9,999"), (9_999, 4, "9.9k"), (9_999, 3, "9k"), (10_000, 5, "10k"),
      (881_119, 7, "881,119"), (881_119, 6, "881k"), (999_999, 4, "999k"),
      (1_000_000, 5, "1.0M"), (1_290_000, 4, "1.2M"), (31_000_000, 9, "31M"),
      (31_000_000, 10, "31,000,000"), (2_500_000_000, 5, "2.5G"), (-12_345, 5, "-12k"),
      (.max, 5, "9.2E"),
    ])
  func aNumberIsAbbreviatedIfItHasNoRoom(count: Int, cells: Int, text: String) {
    #expect(CountText.text(count, cells: cells) == text)
  }

  @Test(
    arguments: [
      (0, "0"), (0.04, "0"), (0.2, "0.2"), (4.0, "4.0"), (9.96, "10.0"), (61, "61"),
      (1_234, "1,234"), (61_234, "61k"), (120_500, "120k"), (.infinity, "1.0P"),
    ])
  func aSmallRateHasADecimal(rate: Double, text: String) {
    #expect(CountText.rate(rate, cells: 5) == text)
  }

  @Test func timesBelowAMillisecondAreShownInMicroseconds() {
    #expect(TimeText.fine(.nanoseconds(31_900), unicode) == "31µs")
    #expect(TimeText.fine(.nanoseconds(31_900), Glyphs(isUnicode: false)) == "31us")
    #expect(TimeText.fine(.nanoseconds(400), unicode) == "0µs")
    #expect(TimeText.fine(.seconds(-1), unicode) == "0µs")
    #expect(TimeText.fine(.milliseconds(1), unicode) == "1ms")
    #expect(TimeText.fine(.milliseconds(4_120), unicode) == "4.12s")
  }

  @Test func theTimeOfDayHasTruncatedMilliseconds() {
    #expect(
      TimeText.preciseTimeOfDay(Scene.seconds(101.0969), of: Scene.hello) == "12:04:30.096")
    #expect(
      TimeText.preciseTimeOfDay(Scene.seconds(-0.001), of: Scene.hello) == "12:02:48.999")
    let far = MonitorTime(nanoseconds: .max)
    #expect(TimeText.preciseTimeOfDay(far, of: Scene.hello) == "--:--:--.---")
  }

  @Test("An operation that was cancelled before it started has no run time", arguments: [-1, 0, 1])
  func cancelledBeforeTheStart(delay: Int) {
    let report = OperationReport(
      id: .init(1), name: "", className: "", queue: Scene.cpu, state: .cancelled,
      started: Scene.now, cancelRequested: Scene.now + .seconds(delay),
      finished: Scene.now + .seconds(2))
    #expect(report.time(at: Scene.now) == (delay > 0 ? .seconds(2) : nil))
    let frame = BatchFrame(
      hello: Scene.hello, time: Scene.now + .seconds(3), queues: [], operations: [report],
      lostChanges: 0)
    #expect(frame.operations.first?.seconds == (delay > 0 ? 2 : nil))
  }

  @Test("The time of an executing operation whose start is unknown is at least the given time")
  func anUnknownStartHasALowerBound() {
    var report = OperationReport(
      id: .init(1), name: "", className: "", queue: Scene.cpu, state: .executing)
    #expect(report.timeText(at: Scene.now) == nil)
    report.foundExecuting = Scene.now - .seconds(12)
    #expect(report.timeText(at: Scene.now) == ">12s")
    for (age, text) in [(179, ">2m"), (7_300, ">2h"), (200_000, ">2d"), (-1, ">0s")] {
      report.foundExecuting = Scene.now - .seconds(age)
      #expect(report.timeText(at: Scene.now) == text)
    }
    report.started = Scene.now - .seconds(13)
    #expect(report.timeText(at: Scene.now) == "13.0s")
  }
}
