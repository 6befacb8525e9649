// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import CMonitorSystem

/// The ids of runs, such as `20260131-235959-k3x9`: a date and a time of day in UTC, and four random characters.
/// Therefore the ids of earlier runs are smaller.
enum RunID {
  private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")

  /// Returns a new id.
  ///
  /// - Parameter time: The wall clock, in nanoseconds since 1970. A time before 1970 counts as 1970.
  /// - Returns: An id, which another run can have.
  static func make(at time: Int64) -> String {
    let date = cmonitor_utc_date(max(0, time) / 1_000_000_000)
    let day = padded(date.year, 4) + padded(date.month, 2) + padded(date.day, 2)
    let clock = padded(date.hour, 2) + padded(date.minute, 2) + padded(date.second, 2)
    let random = (0..<4).map { _ in letters.randomElement() ?? "a" }
    return "\(day)-\(clock)-\(String(random))"
  }

  private static func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// Returns whether a name is the id of a run.
  static func isValid(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard bytes.count == 20 else { return false }
    return bytes.indices.allSatisfy { index in
      let byte = bytes[index]
      if index == 8 || index == 15 { return byte == UInt8(ascii: "-") }
      return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || index > 15 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
  }

  /// Returns the time in an id, in nanoseconds since 1970. A time that cannot be represented becomes a nearer one.
  static func time(of id: String) -> Int64 {
    let digits = id.utf8.map { Int64($0) - 48 }
    func number(_ range: Range<Int>) -> Int64 {
      digits.count >= range.upperBound ? digits[range].reduce(0) { 10 * $0 + $1 } : 0
    }
    let (month, day) = (number(4..<6), number(6..<8))
    // The year begins in March, so that a leap day is the last day of a year. The days from March on follow a pattern
    // of five months with 153 days.
    let year = number(0..<4) - (month <= 2 ? 1 : 0)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let days = year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    let seconds = number(9..<11) * 3_600 + number(11..<13) * 60 + number(13..<15)
    // The difference to the wall clock can be represented too.
    return min(max(days * 86_400 + seconds, -4_000_000_000), 9_000_000_000) * 1_000_000_000
  }
}
