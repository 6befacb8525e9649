// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The rules for the names in a job file.
enum JobName {
  /// The maximum number of bytes of the name of a job or a queue, and of an id with the values of `each`.
  static let longest = 200
  static let longestID = 1_000

  /// Checks the name of a job or a queue: letters, digits, `_`, `-` and `.`, with a letter, a digit or `_` at
  /// the beginning. The kind is what the name is, such as `a job`.
  static func check(_ name: String, _ line: Int, _ kind: String) throws(JobFileMistake) {
    let isAllowed =
      name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == dot || $0 == hyphen }
      && name.utf8.first.map { $0 != dot && $0 != hyphen } ?? false
    guard isAllowed else {
      throw JobFileMistake(
        line,
        "\(name.quoted) cannot be the name of \(kind): a name has letters from A to Z, digits, "
          + "\"_\", \"-\" and \".\", and does not begin with \"-\" or \".\"")
    }
    guard name.utf8.count <= longest else {
      throw JobFileMistake(
        line, "the name \(name.quoted) of \(kind) has more than \(longest) characters")
    }
  }

  /// Checks the name of a variable: letters, digits and `_`, with no digit at the beginning. The names that
  /// begin with `OPQ_` are reserved.
  static func checkVariable(_ name: String, _ line: Int) throws(JobFileMistake) {
    guard name.utf8.allSatisfy({ isLetter($0) || isDigit($0) }), let first = name.utf8.first,
      !isDigit(first)
    else {
      throw JobFileMistake(
        line,
        "\(name.quoted) cannot be the name of a variable: a name has letters from A to Z, digits "
          + "and \"_\", and does not begin with a digit")
    }
    guard !name.hasPrefix("OPQ_") else {
      throw JobFileMistake(
        line, "\(name.quoted) cannot be the name of a variable: \"OPQ_\" is reserved")
    }
  }

  /// Whether a byte can be in the name of a variable after its first character.
  static func isInVariable(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

  /// Whether a byte is an ASCII letter or `_`.
  static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static let dot = UInt8(ascii: ".")
  private static let hyphen = UInt8(ascii: "-")
}
