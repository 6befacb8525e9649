// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension String {
  /// A word that a shell reads as this text. If the text is empty, or contains a character other than ASCII letters,
  /// ASCII digits and `/._-+,:@%`, the word has quotation marks.
  package var shellWord: String {
    let isPlain = utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+,:@%".utf8.contains(byte)
      }
    }
    if isPlain, !isEmpty { return self }
    let parts = split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: #"'\''"#) + "'"
  }
}
