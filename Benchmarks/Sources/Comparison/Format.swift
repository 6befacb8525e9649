// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Formats numbers for the tables.
enum Format {
  /// Returns a whole number, with a comma before each group of three digits.
  static func whole(_ value: Double) -> String {
    let digits = String(Int(value.rounded()))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, digit.isNumber, (digits.count - index).isMultiple(of: 3), text != "-" {
        text += ","
      }
      text.append(digit)
    }
    return text
  }

  /// Returns a number as text. A number below 0.1 has four decimals, a number below 100 has two
  /// decimals, and a larger number has no decimals.
  static func ratio(_ value: Double) -> String {
    if value >= 100 { return whole(value) }
    return value < 0.1 ? fixed(value, decimals: 4) : fixed(value, decimals: 2)
  }

  /// Returns a size as text. If the size is a power of ten, it is written as a power.
  static func size(_ size: Int) -> String {
    switch size {
    case 1_000: "10^3"
    case 10_000: "10^4"
    case 100_000: "10^5"
    case 1_000_000: "10^6"
    default: whole(Double(size))
    }
  }

  /// Returns a non-negative number with the given number of decimals.
  static func fixed(_ value: Double, decimals: Int) -> String {
    let unit = (0..<decimals).reduce(1) { unit, _ in unit * 10 }
    let scaled = Int((value * Double(unit)).rounded())
    let fraction = String(scaled % unit)
    let zeros = String(repeating: "0", count: decimals - fraction.count)
    return "\(scaled / unit).\(zeros)\(fraction)"
  }
}
