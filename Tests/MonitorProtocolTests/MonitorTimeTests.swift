// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite struct MonitorTimeTests {
  private static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
  private static let durations: [Duration] = [
    Duration(secondsComponent: .min, attosecondsComponent: 0),
    Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
    .nanoseconds(Int64.min), .nanoseconds(Int64.max), .zero, .nanoseconds(1), .nanoseconds(-1),
    .seconds(10_000_000_000), .seconds(-10_000_000_000), .seconds(Int64.max) * 3,
    .seconds(Int64.min) * 3,
  ]

  /// Returns the number of nanoseconds that `MonitorTime` must have for an exact result: the
  /// nearest number that fits into 64 bits.
  private func cut(_ exact: Int128) -> Int64 { Int64(clamping: exact) }

  @Test(arguments: extremes)
  func theDistanceOfTwoTimesIsClamped(_ left: Int64) {
    for right in Self.extremes {
      let distance = MonitorTime(nanoseconds: left) - MonitorTime(nanoseconds: right)
      #expect(distance == .nanoseconds(cut(Int128(left) - Int128(right))))
    }
  }

  @Test(arguments: extremes)
  func addingADurationToATimeIsClamped(_ start: Int64) {
    for duration in Self.durations {
      // A duration is first rounded to nanoseconds. If the number of nanoseconds does not fit into
      // 64 bits, the nearest 64-bit number is used.
      let nanoseconds = Int128(cut(duration.attoseconds / 1_000_000_000))
      let after = MonitorTime(nanoseconds: start) + duration
      #expect(after.nanoseconds == cut(Int128(start) + nanoseconds))
      let before = MonitorTime(nanoseconds: start) - duration
      #expect(before.nanoseconds == cut(Int128(start) - nanoseconds))
    }
  }

  @Test(arguments: extremes)
  func theTimeToPollIsNeitherNegativeNorTooLong(_ moment: Int64) {
    for now in Self.extremes {
      let timeout = MonitorTime.pollTimeout(
        from: MonitorTime(nanoseconds: now), until: MonitorTime(nanoseconds: moment))
      #expect(timeout >= 0 && (timeout == 0) == (moment <= now))
    }
  }

  @Test func ordinaryTimesAreExact() {
    let start = MonitorTime(nanoseconds: 5_000_000_000)
    #expect(start + .milliseconds(1_500) == MonitorTime(nanoseconds: 6_500_000_000))
    #expect(start - .milliseconds(1_500) == MonitorTime(nanoseconds: 3_500_000_000))
    #expect(start - MonitorTime(nanoseconds: 6_000_000_001) == .nanoseconds(-1_000_000_001))
  }

  @Test func aDurationIsSubtractedExactly() {
    let moment = MonitorTime(nanoseconds: 9_000_000_000)
    #expect(moment - .seconds(4) == MonitorTime(nanoseconds: 5_000_000_000))
    #expect(moment - .seconds(12) == MonitorTime(nanoseconds: -3_000_000_000))
  }
}
