// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

extension OperationFilter {
  /// Returns the filter that a viewer sends to one of several processes, because a process does not
  /// know its number. For process 2, `2#1042` becomes `#1042`. For the other processes, `2#1042`
  /// becomes a filter that matches no operation.
  package func asked(of number: Int) -> OperationFilter {
    rewritten { Self.word($0, askedOf: number) }
  }

  /// Returns the filter that a viewer sends to a process with this version of the protocol. Processes of
  /// versions 1.0 and 1.1 refuse the words `failed`, `succeeded` and `kind:`. They report failed operations as
  /// finished, and the kind of each operation is its class. Processes before version 1.4 know neither exact values
  /// nor quotation marks in values nor ids of queues, and read characters instead of scalars. For them, the filter
  /// contains a part of the value instead, so that it matches at least the same operations unless the term is negated.
  /// A negated term without such a part is left out. If the filter would be longer than ``WireLimits/longestText``,
  /// terms are left out.
  package func understood(by versions: ProtocolVersions) -> OperationFilter {
    if versions.knowsQueueDetails { return self }
    let inexact = rewritten(Self.inexactWord)
    return versions.minor >= 2 ? inexact : inexact.rewritten(Self.earlierWord)
  }

  /// Returns the filter in which other words replace the words of its text. If `replacement` returns `nil` for a word,
  /// the filter matches all operations that the word could match.
  private func rewritten(_ replacement: (String) -> String?) -> OperationFilter {
    var rewritten = ""
    var term = ""
    var word = ""
    var isQuoted = false
    var (isNegated, isUnknown) = (false, false)
    func endWord(at separator: String) {
      if !word.isEmpty {
        let other = replacement(word)
        if other == nil { isUnknown = true }
        term += other ?? Self.everything
      }
      term += separator
      word = ""
    }
    func endTerm() {
      endWord(at: "")
      let hasRoom = rewritten.utf8.count + term.utf8.count <= WireLimits.longestText
      if hasRoom, !(isNegated && isUnknown) { rewritten += term }
      term = ""
      (isNegated, isUnknown) = (false, false)
    }
    // The parser reads scalars too.
    for scalar in text.unicodeScalars {
      if !isQuoted, scalar == " " || scalar == "\t" {
        endTerm()
        term.unicodeScalars.append(scalar)
      } else if !isQuoted, scalar == "|" || scalar == "!" && word.isEmpty {
        if scalar == "!" { isNegated = true }
        endWord(at: String(scalar))
      } else {
        if scalar == "\"" { isQuoted.toggle() }
        word.unicodeScalars.append(scalar)
      }
    }
    endTerm()
    if rewritten.isEmpty { rewritten = Self.everything }
    // Each replacement is the valid text of one part of a term.
    // Therefore a valid filter stays valid.
    return rewritten == text ? self : (try? OperationFilter(rewritten)) ?? self
  }

  private static func word(_ word: String, askedOf number: Int) -> String {
    guard let (process, id) = numbers(in: word) else { return word }
    guard process == number else { return nothing }
    return id.map { "#\($0)" } ?? everything
  }

  /// Returns a word without an exact value, without a quotation mark in its value, without the id of a queue, and
  /// without a sign that is one character together with another scalar; `nil` if there is no such word.
  private static func inexactWord(_ word: String) -> String? {
    if OperationFilterParser.isQueueID(word) { return nil }
    guard let (field, text) = OperationFilterParser.text(in: word),
      text.isExact || text.value.unicodeScalars.contains("\"") || hasJoinedSign(word)
    else { return word }
    let parts = text.value.unicodeScalars.split(separator: "\"").map(separable)
    guard let longest = parts.max(by: { $0.count < $1.count }), !longest.isEmpty else { return nil }
    return "\(field)\"\(String(longest))\""
  }

  /// Returns whether a sign in a word, or a separator beside it, is one character together with another scalar.
  private static func hasJoinedSign(_ word: String) -> Bool {
    let signs = " \t|\":"
    let text = " \(word) "
    return text.count(where: signs.contains)
      < text.unicodeScalars.count(where: signs.unicodeScalars.contains)
  }

  /// Returns a part of a value without the scalars at its ends that would be one character together with a quotation
  /// mark.
  private static func separable(
    _ part: Substring.UnicodeScalarView
  ) -> Substring.UnicodeScalarView {
    var part = part.drop { "\"\($0)".count == 1 }
    while let last = part.last, "\(last)\"".count == 1 { part.removeLast() }
    return part
  }

  /// Returns a word that versions 1.0 and 1.1 of the protocol understand.
  private static func earlierWord(_ word: String) -> String {
    let kind = "kind:"
    if word.lowercased().hasPrefix(kind) { return "class:\(word.dropFirst(kind.count))" }
    let field = "state:"
    guard word.lowercased().hasPrefix(field) else { return word }
    let value = word.lowercased().dropFirst(field.count).filter { $0 != "\"" }
    guard let states = try? OperationFilterParser.states(value) else { return word }
    if states == [.failed] { return nothing }
    let isKnown = OperationState.allCases.contains { $0 != .failed && $0.rawValue.hasPrefix(value) }
    return isKnown ? word : "state:\(OperationState.finished.rawValue)"
  }

  /// A term that matches no operation, because no operation has the id 0.
  private static let nothing = "#0"

  /// A term that matches all operations, because each name contains the empty text.
  private static let everything = "\"\""

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
