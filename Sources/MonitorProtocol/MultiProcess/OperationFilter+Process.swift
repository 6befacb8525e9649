// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationFilter {
  /// Returns the filter that a viewer sends to one of several processes, because a process does not
  /// know its number. For process 2, `2#1042` becomes `#1042`. For the other processes, `2#1042`
  /// becomes a filter that matches no operation.
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
    // Each replacement of a process number in the filter is the valid text of one part of a term.
    // Therefore a valid filter stays valid.
    return rewritten == text ? self : (try? OperationFilter(rewritten)) ?? self
  }

  private static func word(_ word: String, askedOf number: Int) -> String {
    guard let (process, id) = numbers(in: word) else { return word }
    // The term `#0` matches no operation, because no operation has the id 0.
    guard process == number else { return "#0" }
    return id.map { "#\($0)" } ?? everyState
  }

  /// The text of conditions that together match all operations.
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
