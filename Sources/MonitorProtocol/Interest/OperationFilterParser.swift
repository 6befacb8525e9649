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
    /// The text before the first quotation mark. Signs such as `:` and `>` have a special meaning only here.
    var head = ""
    /// The text from the first quotation mark on, without these marks; `nil` if there is no such mark.
    var tail: String?

    var text: String { head + (tail ?? "") }

    /// The field before the first colon, in lower case, and the value after it; `nil` if the part has no field.
    var fieldAndValue: (field: String, value: OperationFilter.Text)? {
      guard let colon = head.unicodeScalars.firstIndex(of: ":"), colon != head.startIndex else {
        return nil
      }
      let field = head[..<colon].lowercased()
      let rest = head.unicodeScalars[colon...].dropFirst()
      let isExact = rest.first == "=" && OperationFilterParser.textFields.contains(field)
      let value = String(rest.dropFirst(isExact ? 1 : 0)) + (tail ?? "")
      return (field, OperationFilter.Text(value: value, isExact: isExact))
    }

    /// The id in `queue:=#3`; `nil` if the part has another form. A quotation mark makes the value a name.
    var queueID: QueueReport.ID? {
      guard tail == nil, let (field, text) = fieldAndValue, field == "queue", text.isExact,
        text.value.first == "#"
      else { return nil }
      let digits = text.value.dropFirst()
      guard digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
      return UInt64(digits).map { QueueReport.ID($0) }
    }

    /// Appends a scalar of the text.
    mutating func append(_ scalar: Unicode.Scalar) {
      if tail == nil {
        head.unicodeScalars.append(scalar)
      } else {
        tail?.unicodeScalars.append(scalar)
      }
    }
  }

  /// The fields whose values are texts, which can be exact.
  private static let textFields = ["queue", "kind", "class", "name"]

  // A quotation mark and a combining mark after it are one character, but the quotation mark has its meaning
  // nevertheless. Otherwise some texts could not be put between quotation marks.
  private var rest: Substring.UnicodeScalarView

  init(_ text: String) { rest = text[...].unicodeScalars }

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
      guard !token.head.isEmpty || token.tail != nil else {
        throw .missing(after: term.alternatives.isEmpty ? "!" : "|")
      }
      term.alternatives.append(try Self.condition(token))
      guard rest.first == "|" else { return term }
      rest.removeFirst()
    }
  }

  /// Returns the value of a part of a filter's text, without `=` before it and without quotation marks around it, and
  /// its field with a colon, or an empty text if it has no field. Returns `nil` if the part is invalid, or if its value
  /// is not a text.
  static func text(in part: String) -> (field: String, value: OperationFilter.Text)? {
    var parser = OperationFilterParser(part)
    guard let token = try? parser.token() else { return nil }
    guard let (field, value) = token.fieldAndValue else {
      return ("", OperationFilter.Text(value: token.text))
    }
    return textFields.contains(field) ? ("\(field):", value) : nil
  }

  /// Returns whether a part of a filter's text has the form `queue:=#3`.
  static func isQueueID(_ part: String) -> Bool {
    var parser = OperationFilterParser(part)
    return (try? parser.token())?.queueID != nil
  }

  /// Removes and returns the text up to the next space or `|` that is outside quotation marks.
  private mutating func token() throws(OperationFilterError) -> Token {
    var token = Token()
    var isQuoted = false
    while let scalar = rest.first {
      if !isQuoted, scalar == " " || scalar == "\t" || scalar == "|" { break }
      rest.removeFirst()
      if scalar != "\"" {
        token.append(scalar)
      } else if isQuoted, rest.first == "\"" {
        rest.removeFirst()
        token.append(scalar)
      } else {
        token.tail = token.tail ?? ""
        isQuoted.toggle()
      }
    }
    if isQuoted { throw .unclosedQuote }
    return token
  }

  private static func condition(_ token: Token) throws(OperationFilterError) -> Condition {
    let head = token.head
    if let sign = head.firstIndex(where: { $0 == ">" || $0 == "<" }),
      head[..<sign].lowercased() == "age"
    {
      let value = String(head[sign...].dropFirst()) + (token.tail ?? "")
      return .age(try nanoseconds(value), isMore: head[sign] == ">")
    }
    if token.tail == nil, head.first == "#" {
      guard let id = UInt64(head.dropFirst()) else {
        throw .invalidValue(field: "#", value: String(head.dropFirst()), expected: "a number")
      }
      return .id(OperationReport.ID(id))
    }
    if token.tail == nil, let (process, number) = OperationFilter.numbers(in: head) {
      guard let number else { return .process(process) }
      guard let id = OperationReport.ID(number).numbered(process) else {
        throw .invalidValue(field: "\(process)#", value: "\(number)", expected: "a number")
      }
      return .id(id)
    }
    if let id = token.queueID { return .queueID(id) }
    guard let (field, text) = token.fieldAndValue else {
      return .name(OperationFilter.Text(value: token.text))
    }
    // An exact value may be empty if it has quotation marks.
    guard !text.value.isEmpty || text.isExact && token.tail != nil else {
      throw .missing(after: text.isExact ? "\(field):=" : "\(field):")
    }
    switch field {
    case "state": return .states(try states(text.value.lowercased()))
    case "queue": return .queue(text)
    case "kind": return .kind(text)
    case "class": return .className(text)
    case "priority": return .priority(try priority(text.value.lowercased()))
    case "name": return .name(text)
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
