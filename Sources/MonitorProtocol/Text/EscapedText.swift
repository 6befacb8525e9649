// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Replaces characters that control a terminal or end a line.
package enum EscapedText {
  /// Returns a text in which escape sequences replace characters that control a terminal or end a
  /// line.
  ///
  /// A tab becomes `\t`, a line feed becomes `\n`, and a backslash becomes `\\`. Other control
  /// characters become `\xNN`. Characters that end lines or change the text direction become
  /// `\uNNNN`. `NN` and `NNNN` are the character's number in hexadecimal digits. The original text
  /// can be restored exactly.
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
  /// Whether a terminal or a reader of lines may interpret this character instead of showing it:
  /// controls, characters that end a line or a paragraph, and characters that change the text
  /// direction.
  package var isObeyed: Bool {
    if (0x20..<0x7F).contains(value) { return false }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    default: return properties.isBidiControl
    }
  }

  /// Returns the character's number in hexadecimal digits, with leading zeros.
  package func hexadecimal(digits: Int) -> String {
    let number = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - number.count)) + number
  }
}
