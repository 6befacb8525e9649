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
      (0, "0"), (9_999, "9,999"), (10_000, "10k"), (61_999, "61k"), (999_999, "999k"),
      (1_000_000, "1.0M"), (1_290_000, "1.2M"), (31_000_000, "31M"),
    ])
  func aShortNumberHasAtMostFiveCells(count: Int, text: String) {
    #expect(CountText.short(count) == text)
  }

  @Test(
    arguments: [
      (0, "0"), (0.04, "0"), (0.2, "0.2"), (4.0, "4.0"), (9.96, "10.0"), (61, "61"),
      (120_500, "120k"), (.infinity, "1000000000M"),
    ])
  func aSmallRateHasADecimal(rate: Double, text: String) {
    #expect(CountText.rate(rate) == text)
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
}
