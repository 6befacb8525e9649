// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Replaces characters in names that could damage the output of metrics and traces.
enum LabelText {
  /// The maximum length of a name in Unicode scalars. A longer name is truncated and then ends with
  /// an ellipsis.
  static let limit = 100

  /// Returns the name with replacements for control and formatting characters, line ends, quotation
  /// marks and backslashes, because these have a meaning in text formats of metrics or on a screen.
  /// The result is never empty. It has at most `limit` Unicode scalars.
  static func harmless(_ name: String, limit: Int = Self.limit) -> String {
    if name.isEmpty { return "_" }
    if isPlain(name, limit) { return name }
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

  /// Returns whether the name is short and contains only printable ASCII characters without
  /// quotation marks and backslashes. Nearly all names are like this.
  private static func isPlain(_ name: String, _ limit: Int) -> Bool {
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
