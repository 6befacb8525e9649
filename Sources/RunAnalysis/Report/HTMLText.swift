// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Formats text, numbers and times for an HTML page.
enum HTMLText {
  /// The maximum number of characters that are shown of a name.
  static let nameLimit = 120

  /// Returns a text that is safe in HTML: without markup, without characters that change its direction, and
  /// of limited length. The original text may come from any source.
  static func escaped(_ text: String, limit: Int = Self.nameLimit) -> String {
    let isLong = text.count > limit
    let shown = EscapedText.escaped(String(text.prefix(limit))) + (isLong ? "…" : "")
    return shown.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;").replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// Returns the text of a duration with about three digits, down to microseconds.
  static func duration(_ duration: Duration) -> String {
    let nanoseconds = max(.zero, duration).saturatedNanoseconds
    switch nanoseconds {
    case 0: return "0"
    case ..<1_000: return "\(nanoseconds) ns"
    case ..<1_000_000: return "\(nanoseconds / 1_000) µs"
    default: return TimeText.duration(duration)
    }
  }

  /// Returns a number with two decimal places.
  static func number(_ number: Double) -> String {
    let hundredths = (number * 100).rounded()
    let whole = Int(exactly: hundredths) ?? 0
    if whole.isMultiple(of: 100) { return "\(whole / 100)" }
    return "\(Double(whole) / 100)"
  }

  /// Returns the text of a count with spaces between thousands.
  static func count(_ count: Int) -> String {
    let digits = Array(String(count))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "\u{202F}" }
      text.append(digits[index])
    }
  }

  /// Returns the percentage of a part of a whole.
  static func share(_ part: Double, of whole: Double) -> String {
    let ratio = whole > 0 ? min(part / whole, 1) * 100 : 0
    return ratio > 0 && ratio < 1 ? "<1 %" : "\(Int(ratio.rounded())) %"
  }
}
