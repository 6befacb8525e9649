// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Testing

@testable import JobFiles

@Suite struct DurationTests {
  @Test(
    "JF-13: a duration is a number with a unit",
    arguments: [
      ("500ms", Duration.milliseconds(500)), ("10s", .seconds(10)), ("5m", .seconds(300)),
      ("2h", .seconds(7_200)), ("1d", .seconds(86_400)), ("1.5s", .milliseconds(1_500)),
      ("0.25m", .seconds(15)), ("0s", .zero), ("1.000000001s", .nanoseconds(1_000_000_001)),
      ("36525d", .seconds(3_155_760_000)), ("007s", .seconds(7)),
    ])
  func duration(text: String, duration: Duration) {
    #expect(DurationText.duration(text) == .success(duration))
  }

  @Test("JF-13: a number without a unit is no duration", arguments: ["0", "30", "1.5"])
  func noUnit(text: String) {
    #expect(DurationText.duration(text) == .failure(.noUnit))
  }

  @Test(
    "JF-13: other texts are no durations",
    arguments: [
      "", "s", "1.s", ".5s", "1.2.3s", "1e3s", "+1s", "-1s", " 1s", "1 s", "1w", "nans", "٣s", "1S",
    ])
  func noDuration(text: String) {
    #expect(DurationText.duration(text) == .failure(.noDuration))
  }

  @Test(
    "JF-13: a duration has at most 100 years",
    arguments: ["36525.1d", "36526d", "99999999999999999999s", "9223372036854775807d"])
  func tooLong(text: String) {
    #expect(DurationText.duration(text) == .failure(.tooLong))
  }
}
