// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Text of which nothing is obeyed by a terminal or ends a line.
package enum EscapedText {
  /// A value without anything that would end it, or that a terminal would obey.
  ///
  /// A tab, a line feed and a backslash become `\t`, `\n` and `\\`, other controls `\xNN`, and what
  /// ends lines or turns text round `\uNNNN`, with the character's number in hexadecimal digits. So
  /// the value can be had back exactly.
  package static func escaped(_ value: String) -> String {
    guard !value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") }) else {
      return value
    }
    var escaped = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\t": escaped.append(contentsOf: "\\t".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case _ where !scalar.isObeyed: escaped.append(scalar)
      case _ where scalar.value < 0x100:
        escaped.append(contentsOf: "\\x\(scalar.hexadecimal(digits: 2))".unicodeScalars)
      default: escaped.append(contentsOf: "\\u\(scalar.hexadecimal(digits: 4))".unicodeScalars)
      }
    }
    return String(escaped)
  }
}

extension Unicode.Scalar {
  /// Whether a terminal, or a reader of lines, might do something at this character instead of showing
  /// it: controls, what ends a line or a paragraph, and what turns the direction of text round.
  package var isObeyed: Bool {
    if (0x20..<0x7F).contains(value) { return false }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return properties.isBidiControl
    }
  }

  /// The character's number in hexadecimal digits, with zeros in front.
  package func hexadecimal(digits: Int) -> String {
    let number = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - number.count)) + number
  }
}
