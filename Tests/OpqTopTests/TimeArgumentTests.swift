// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import OpqTop

@Suite struct TimeArgumentTests {
  @Test(arguments: [
    ("0.5", Duration.milliseconds(500)), ("500ms", .milliseconds(500)), ("1s", .seconds(1)),
    ("2", .seconds(2)), ("1.5s", .milliseconds(1500)),
  ])
  func anIntervalIsReadInSecondsOrMilliseconds(text: String, duration: Duration) {
    #expect(Interval(argument: text)?.duration == duration)
  }

  @Test(arguments: ["", "s", "ms", "-1", "0", "1m", "nan", "inf", "1e3", "0x10", "5ms", "1..2"])
  func anInvalidIntervalIsRefused(text: String) {
    #expect(Interval(argument: text) == nil)
  }

  @Test(
    "A time since the beginning may be short or long",
    arguments: [
      ("0", Duration.zero), ("12.5", .seconds(12.5)), ("5ms", .milliseconds(5)),
      ("90s", .seconds(90)),
      ("15m", .seconds(900)), ("2h", .seconds(7_200)), ("3d", .seconds(259_200)),
    ])
  func offsets(text: String, duration: Duration) {
    #expect(Offset(argument: text)?.duration == duration)
    #expect(Offset(argument: "-\(text)") == nil && Offset(argument: "\(text)x") == nil)
  }
}
