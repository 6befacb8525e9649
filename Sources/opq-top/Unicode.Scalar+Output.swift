// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension Unicode.Scalar {
  /// Whether a terminal, or a reader of lines, might do something at this character instead of showing
  /// it: controls, what ends a line or a paragraph, and what turns the direction of text round.
  var isObeyed: Bool {
    if (0x20..<0x7F).contains(value) { return false }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return properties.isBidiControl
    }
  }

  /// The character's number in hexadecimal digits, with zeros in front.
  func hexadecimal(digits: Int) -> String {
    let number = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - number.count)) + number
  }
}
