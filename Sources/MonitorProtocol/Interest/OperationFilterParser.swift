// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The reason why a filter's text is invalid. Its description is a sentence for the user.
public enum OperationFilterError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A term or a value is missing after this text.
  case missing(after: String)
  /// A quotation mark is not closed.
  case unclosedQuote
  /// The filter names a field that does not exist.
  case unknownField(String)
  /// The filter has a value that is invalid for its field.
  case invalidValue(field: String, value: String, expected: String)

  /// The reason as a sentence for the user.
  public var description: String {
    switch self {
    case .missing(let text): "a term or value is missing after \(text)"
    case .unclosedQuote: "a quotation mark is not closed"
    case .unknownField(let field):
      "unknown field \(field); the fields are state:, queue:, kind:, class:, priority:, age> and age<"
    case .invalidValue(let field, let value, let expected):
      "\(field) must be \(expected), not \(value)"
    }
  }
}

/// Parses a filter's text from left to right.
struct OperationFilterParser {
  private typealias Term = OperationFilter.Term
  private typealias Condition = OperationFilter.Condition

  /// A part of a filter's text between two separators.
  private struct Token {
    var text = ""
    /// The number of characters before the first quotation mark.
    var unquotedCount: Int?
  }

  private var rest: Substring

  init(_ text: String) { rest = text[...] }

  mutating func terms() throws(OperationFilterError) -> [OperationFilter.Term] {
    var terms: [Term] = []
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      if rest.isEmpty { return terms }
      terms.append(try term())
    }
  }

  private mutating func term() throws(OperationFilterError) -> Term {
    var term = Term(isNegated: false, alternatives: [])
    if rest.first == "!" {
      rest.removeFirst()
      term.isNegated = true
    }
    while true {
      let token = try token()
      guard !token.text.isEmpty || token.unquotedCount != nil else {
        throw .missing(after: term.alternatives.isEmpty ? "!" : "|")
      }
      term.alternatives.append(try Self.condition(token))
      guard rest.first == "|" else { return term }
      rest.removeFirst()
    }
  }

  /// Removes and returns the text up to the next space or `|` that is outside quotation marks.
  private mutating func token() throws(OperationFilterError) -> Token {
    var token = Token()
    var isQuoted = false
    while let character = rest.first {
      if !isQuoted, character == " " || character == "\t" || character == "|" { break }
      rest.removeFirst()
      if character == "\"" {
        token.unquotedCount = token.unquotedCount ?? token.text.count
        isQuoted.toggle()
      } else {
        token.text.append(character)
      }
    }
    if isQuoted { throw .unclosedQuote }
    return token
  }

  private static func condition(_ token: Token) throws(OperationFilterError) -> Condition {
    // Signs such as `:` and `>` have no special meaning within quotation marks.
    let head = token.text.prefix(token.unquotedCount ?? token.text.count)
    if let sign = head.firstIndex(where: { $0 == ">" || $0 == "<" }),
      head[..<sign].lowercased() == "age"
    {
      let value = String(token.text[token.text.index(after: sign)...])
      return .age(try nanoseconds(value), isMore: head[sign] == ">")
    }
    if token.unquotedCount == nil, head.first == "#" {
      guard let id = UInt64(head.dropFirst()) else {
        throw .invalidValue(field: "#", value: String(head.dropFirst()), expected: "a number")
      }
      return .id(OperationReport.ID(id))
    }
    if token.unquotedCount == nil, let (process, number) = OperationFilter.numbers(in: head) {
      guard let number else { return .process(process) }
      guard let id = OperationReport.ID(number).numbered(process) else {
        throw .invalidValue(field: "\(process)#", value: "\(number)", expected: "a number")
      }
      return .id(id)
    }
    guard let colon = head.firstIndex(of: ":"), colon != head.startIndex else {
      return .name(token.text)
    }
    let field = head[..<colon].lowercased()
    let value = String(token.text[token.text.index(after: colon)...])
    guard !value.isEmpty else { throw .missing(after: "\(field):") }
    switch field {
    case "state": return .states(try states(value.lowercased()))
    case "queue": return .queue(value)
    case "kind": return .kind(value)
    case "class": return .className(value)
    case "priority": return .priority(try priority(value.lowercased()))
    case "name": return .name(value)
    default: throw .unknownField(field)
    }
  }

  /// Returns the states that a word of a filter means.
  static func states(_ word: String) throws(OperationFilterError) -> Set<OperationState> {
    // A complete word has only its own meaning, even if another word begins with the same letters.
    if let complete = OperationState.words.first(where: { $0.word == word }) {
      return complete.states
    }
    let states = OperationState.words.filter { $0.word.hasPrefix(word) }
      .reduce(into: Set<OperationState>()) { $0.formUnion($1.states) }
    guard !states.isEmpty else {
      let words = OperationState.words.map(\.word).joined(separator: ", ")
      throw .invalidValue(field: "state", value: word, expected: words)
    }
    return states
  }

  private static func priority(_ word: String) throws(OperationFilterError) -> OperationPriority {
    let words: [(String, OperationPriority)] = [
      ("verylow", .veryLow), ("low", .low), ("normal", .normal), ("high", .high),
      ("veryhigh", .veryHigh),
    ]
    guard let match = words.first(where: { $0.0 == word }) else {
      throw .invalidValue(
        field: "priority", value: word, expected: words.map(\.0).joined(separator: ", "))
    }
    return match.1
  }

  private static func nanoseconds(_ text: String) throws(OperationFilterError) -> Int64 {
    let units: [(String, Double)] = [("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9)]
    let unit = units.first { text.hasSuffix($0.0) }
    let number = Double(text.dropLast(unit?.0.count ?? 0))
    guard let number, number >= 0, number.isFinite, number < 1e6 else {
      throw .invalidValue(field: "age", value: text, expected: "a time such as 5s or 500ms")
    }
    return Int64(number * (unit?.1 ?? 1e9))
  }
}
