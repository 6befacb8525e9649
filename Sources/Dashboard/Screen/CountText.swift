// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Formats large numbers.
enum CountText {
  /// Returns a number with commas between thousands: `1,000,000`.
  static func text(_ count: Int) -> String {
    var text = ""
    for (index, digit) in String(count.magnitude).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return (count < 0 ? "-" : "") + String(text.reversed())
  }

  /// Returns a number in a short form, rounded down: `9,999`, `61k`, `1.2M`. Numbers below a billion take at
  /// most five cells.
  static func short(_ count: Int) -> String {
    switch count {
    case ..<10_000: text(count)
    case ..<1_000_000: "\(count / 1_000)k"
    case ..<10_000_000: "\(count / 1_000_000).\(count / 100_000 % 10)M"
    default: "\(count / 1_000_000)M"
    }
  }

  /// Returns the text of a rate, with one decimal place below 10 and otherwise as a whole number.
  static func rate(_ rate: Double) -> String {
    guard rate < 10 else { return short(Int(min(rate, 1e15))) }
    let tenths = Int((max(0, rate) * 10).rounded())
    return tenths == 0 ? "0" : "\(tenths / 10).\(tenths % 10)"
  }
}
