// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Text, numbers and times as a page shows them.
enum HTMLText {
  /// The most characters of a name that are shown.
  private static let nameLimit = 120

  /// A text that is nothing but text, whoever it comes from: without markup, without what turns its
  /// direction round, and of bounded length.
  static func escaped(_ text: String) -> String {
    let isLong = text.count > nameLimit
    let shown = EscapedText.escaped(String(text.prefix(nameLimit))) + (isLong ? "…" : "")
    return shown.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
      .replacing(">", with: "&gt;").replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// A duration to about three digits, down to microseconds.
  static func duration(_ duration: Duration) -> String {
    let nanoseconds = max(.zero, duration).saturatedNanoseconds
    switch nanoseconds {
    case 0: return "0"
    case ..<1_000: return "\(nanoseconds) ns"
    case ..<1_000_000: return "\(nanoseconds / 1_000) µs"
    default: return TimeText.duration(duration)
    }
  }

  /// A number to a hundredth.
  static func number(_ number: Double) -> String {
    let hundredths = (number * 100).rounded()
    let whole = Int(exactly: hundredths) ?? 0
    if whole.isMultiple(of: 100) { return "\(whole / 100)" }
    return "\(Double(whole) / 100)"
  }

  /// How many, with spaces between thousands.
  static func count(_ count: Int) -> String {
    let digits = Array(String(count))
    return digits.indices.reduce(into: "") { text, index in
      if index > 0, (digits.count - index).isMultiple(of: 3) { text += "\u{202F}" }
      text.append(digits[index])
    }
  }

  /// A part of a whole in hundredths.
  static func share(_ part: Double, of whole: Double) -> String {
    let ratio = whole > 0 ? min(part / whole, 1) * 100 : 0
    return ratio > 0 && ratio < 1 ? "<1 %" : "\(Int(ratio.rounded())) %"
  }
}
