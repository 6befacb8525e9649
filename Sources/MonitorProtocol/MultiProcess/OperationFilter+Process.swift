// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationFilter {
  /// Returns the filter for one of several processes, which knows only its own operations: `2#1042`
  /// becomes `#1042` for process 2, and matches no operation in the other processes.
  package func asked(of number: Int) -> OperationFilter {
    var rewritten = ""
    var word = ""
    var isQuoted = false
    for character in text {
      let isSeparator = " \t|".contains(character) || character == "!" && word.isEmpty
      if isSeparator, !isQuoted {
        rewritten += Self.word(word, askedOf: number) + String(character)
        word = ""
      } else {
        if character == "\"" { isQuoted.toggle() }
        word.append(character)
      }
    }
    rewritten += Self.word(word, askedOf: number)
    // A valid filter stays valid: each word is replaced by the text of one part.
    return rewritten == text ? self : (try? OperationFilter(rewritten)) ?? self
  }

  private static func word(_ word: String, askedOf number: Int) -> String {
    guard let (process, id) = numbers(in: word) else { return word }
    // No operation has this id.
    guard process == number else { return "#0" }
    return id.map { "#\($0)" } ?? everyState
  }

  /// A part of a term that matches all operations.
  private static let everyState = OperationState.allCases.map { "state:\($0.rawValue)" }
    .joined(separator: "|")

  /// Returns the process's number and the operation's id in `2#1042`, or only the number in `2#`;
  /// `nil` for any other word.
  static func numbers(in word: some StringProtocol) -> (process: Int, id: UInt64?)? {
    let parts = word.split(separator: "#", omittingEmptySubsequences: false)
    guard parts.count == 2, let process = Int(parts[0]), ProcessReport.numbers.contains(process),
      parts[0].first != "+"
    else { return nil }
    if parts[1].isEmpty { return (process, nil) }
    guard let id = UInt64(parts[1]), parts[1].first != "+" else { return nil }
    return (process, id)
  }
}
