// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Parses durations such as `500ms`, `1.5s`, `5m`, `2h` or `1d`.
enum DurationText {
  enum Failure: Error, Hashable {
    /// The text is a number without a unit.
    case noUnit
    /// The duration is more than 100 years.
    case tooLong
    case noDuration
  }

  private static let units: [(name: String, nanoseconds: Int64)] = [
    ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
  ]

  /// Returns the duration that a text describes. Digits for parts of a nanosecond are ignored.
  static func duration(_ text: String) -> Result<Duration, Failure> {
    let unit = units.first { text.hasSuffix($0.name) }
    let number = text.utf8.dropLast(unit?.name.utf8.count ?? 0)
    let parts = number.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let isNumber = parts.allSatisfy { part in
      !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
    guard isNumber, let whole = parts.first else { return .failure(.noDuration) }
    guard let unit else { return .failure(.noUnit) }
    // 100 years have 36,525 days.
    let longest = 36_525 * 86_400_000_000_000 as Int64
    guard let count = Int64(String(decoding: whole, as: UTF8.self)),
      count <= longest / unit.nanoseconds
    else { return .failure(.tooLong) }
    var nanoseconds = count * unit.nanoseconds
    var scale = unit.nanoseconds
    // A unit has at most 14 digits of nanoseconds.
    for digit in parts.dropFirst().joined().prefix(14) {
      let value = Int64(digit - UInt8(ascii: "0"))
      nanoseconds += value * scale / 10
      scale /= 10
    }
    return nanoseconds <= longest ? .success(.nanoseconds(nanoseconds)) : .failure(.tooLong)
  }
}
