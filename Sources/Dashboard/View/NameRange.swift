// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Names the ends of a row of alike names without saying twice what they share.
enum NameRange {
  /// No more of a name than this is looked at.
  private static let limit = 200

  /// `shard 14 … 31` from `shard 14` and `shard 31`; both in full where they share no first word.
  static func text(from first: String, to last: String, ellipsis: String) -> String {
    let first = Array(first.unicodeScalars.prefix(limit))
    let last = Array(last.unicodeScalars.prefix(limit))
    guard first != last else { return string(first) }
    let sharedCount = zip(first, last).prefix { $0 == $1 }.count
    let wordStart = last.prefix(sharedCount).lastIndex(of: " ").map { $0 + 1 } ?? 0
    return "\(string(first)) \(ellipsis) \(string(Array(last[wordStart...])))"
  }

  private static func string(_ scalars: [Unicode.Scalar]) -> String {
    String(String.UnicodeScalarView(scalars))
  }
}
