// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// The time between two frames on the command line: `0.5`, `500ms` or `1s`.
struct Interval: ExpressibleByArgument, Equatable {
  /// The length of the interval, from 10 ms to a day.
  let duration: Duration

  /// Parses an interval; `nil` if the text is not an interval or is out of range.
  init?(argument: String) {
    let (digits, scale): (Substring, Double) =
      if argument.hasSuffix("ms") {
        (argument.dropLast(2), 0.001)
      } else if argument.hasSuffix("s") {
        (argument.dropLast(), 1)
      } else {
        (argument[...], 1)
      }
    // The initializer of `Double` also accepts words such as "nan" and hexadecimal numbers, so the
    // characters are checked first.
    guard digits.allSatisfy({ "0123456789.".contains($0) }), let number = Double(digits) else {
      return nil
    }
    guard (0.01...86_400).contains(number * scale) else { return nil }
    duration = .seconds(number * scale)
  }
}

/// A time since the beginning of a recording, on the command line: `12.5`, `500ms`, `90s`, `15m`,
/// `2h` or `1d`.
struct Offset: ExpressibleByArgument, Equatable {
  /// The time since the beginning of the recording, from 0 to a hundred years.
  let duration: Duration

  private static let units: [(name: String, seconds: Double)] = [
    ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("", 1),
  ]

  /// Parses an offset; `nil` if the text is not an offset or is out of range.
  init?(argument: String) {
    guard let unit = Self.units.first(where: { argument.hasSuffix($0.name) }) else { return nil }
    let digits = argument.dropLast(unit.name.count)
    // The initializer of `Double` also accepts words such as "nan" and hexadecimal numbers, so the
    // characters are checked first.
    guard digits.allSatisfy({ "0123456789.".contains($0) }), let number = Double(digits),
      (0...3_155_760_000).contains(number * unit.seconds)
    else { return nil }
    duration = .seconds(number * unit.seconds)
  }
}
