// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Names as metrics and traces may have them.
enum LabelText {
  /// Longer names are cut to so many scalars, the last of them an ellipsis.
  static let limit = 100

  /// A name without what a text format of metrics, or a screen, takes for something else: control and
  /// formatting characters, line ends, quotation marks and backslashes. Never empty.
  static func harmless(_ name: String) -> String {
    if name.isEmpty { return "_" }
    if isPlain(name) { return name }
    var text = String.UnicodeScalarView()
    var count = 0
    for scalar in name.unicodeScalars {
      count += 1
      if count > limit {
        text.removeLast()
        text.append("…")
        break
      }
      text.append(harmless(scalar))
    }
    return String(text)
  }

  /// Whether it is what nearly all names are: short, and of ordinary ASCII.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.count <= limit
      && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }

  private static func harmless(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\"": return "'"
    case "\\": return "/"
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return "\u{FFFD}"
    default: return scalar
    }
  }
}
