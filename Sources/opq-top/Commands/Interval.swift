// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser

/// A time between frames, as it is written on the command line: `0.5`, `500ms` or `1s`.
struct Interval: ExpressibleByArgument, Equatable {
  /// From 10 ms to a day.
  let duration: Duration

  /// Reads an interval; `nil` where it is none, or out of range.
  init?(argument: String) {
    let (digits, scale): (Substring, Double) =
      if argument.hasSuffix("ms") {
        (argument.dropLast(2), 0.001)
      } else if argument.hasSuffix("s") {
        (argument.dropLast(), 1)
      } else {
        (argument[...], 1)
      }
    // Double reads words such as "nan" and hexadecimal numbers, too.
    guard digits.allSatisfy({ "0123456789.".contains($0) }), let number = Double(digits) else {
      return nil
    }
    guard (0.01...86_400).contains(number * scale) else { return nil }
    duration = .seconds(number * scale)
  }
}
