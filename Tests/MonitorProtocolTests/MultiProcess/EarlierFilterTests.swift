// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import Testing

@Suite("Filters for processes that read characters instead of scalars")
struct EarlierFilterTests {
  /// The reason why a process before version 1.4 of the protocol refuses a filter.
  private enum Refusal: Error {
    case unclosedQuote
    case missingText
    case unknownField(String)
  }

  /// The fields and texts of a filter, as a process before version 1.4 of the protocol reads them. The field of a name
  /// is empty.
  private func earlierReading(of text: String) throws -> [[(field: String, text: String)]] {
    var terms: [[(field: String, text: String)]] = []
    var rest = text[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      if rest.isEmpty { return terms }
      if rest.first == "!" { rest.removeFirst() }
      terms.append([])
      repeat {
        if rest.first == "|" { rest.removeFirst() }
        terms[terms.count - 1].append(try earlierPart(&rest))
      } while rest.first == "|"
    }
  }

  private func earlierPart(_ rest: inout Substring) throws -> (field: String, text: String) {
    var text = ""
    var unquotedCount: Int?
    var isQuoted = false
    while let character = rest.first {
      if !isQuoted, character == " " || character == "\t" || character == "|" { break }
      rest.removeFirst()
      if character == "\"" {
        unquotedCount = unquotedCount ?? text.count
        isQuoted.toggle()
      } else {
        text.append(character)
      }
    }
    if isQuoted { throw Refusal.unclosedQuote }
    if text.isEmpty, unquotedCount == nil { throw Refusal.missingText }
    let head = text.prefix(unquotedCount ?? text.count)
    guard let colon = head.firstIndex(of: ":"), colon != head.startIndex else { return ("", text) }
    let field = head[..<colon].lowercased()
    let value = String(text[text.index(after: colon)...])
    if value.isEmpty { throw Refusal.missingText }
    guard ["kind", "class", "queue", "name", "state"].contains(field) else {
      throw Refusal.unknownField(field)
    }
    return (field, value)
  }

  private static let versions = (0...3).map { ProtocolVersions(major: 1, minor: $0) }

  private static let kinds =
    OperationFilterTests.hostileKinds + [
      "x\u{600}", "\u{301}", "\u{200D}\u{301}x\u{600}\u{600}", "a\u{600}\"\u{301}\u{301}b",
      "\u{600}\"\u{200D}", " \u{301}|\u{200D}", "a: \u{301}b",
    ]

  @Test("A process before version 1.4 accepts each kind and finds it", arguments: kinds)
  func hostileKinds(kind: String) throws {
    let quoted = OperationFilter.quoted(kind)
    for versions in Self.versions {
      for text in [
        quoted, "kind:\(quoted)x", "kind:=\(quoted)", "tiles !kind:=\(quoted)|b state:e",
      ] {
        let sent = try OperationFilter(text).understood(by: versions).text
        let parts = try earlierReading(of: sent).joined().filter {
          !["tiles", "b"].contains($0.text)
        }
        for part in parts where part.field != "state" {
          #expect("\(kind)x".containsIgnoringCase(part.text), "\(text) \(sent)")
        }
      }
    }
  }

  @Test(
    "A typed word whose sign is one character with another scalar is sent between quotation marks",
    arguments: [
      ("\"\u{301}x\"", "\"x\""), ("\u{301}x state:exec", "\"x\" state:exec"),
      ("kind:\u{301}x|b", "kind:\"x\"|b"), ("x\u{600} state:exec", "\"x\" state:exec"),
      ("kind:x\u{301}", "kind:x\u{301}"), ("\"a\u{301} b\"", "\"a\u{301} b\""),
      ("kind:\"\u{200D}\"", "\"\""), ("!name:\"\u{301}\"", "\"\""),
      ("!queue:=#3", "\"\""), ("!queue:=#3 state:exec", " state:exec"),
      ("queue:=#3", "\"\""),
    ])
  func typedWords(text: String, sent: String) throws {
    let filter = try OperationFilter(text)
    #expect(filter.understood(by: ProtocolVersions(major: 1, minor: 3)).text == sent)
    _ = try earlierReading(of: sent)
  }

  @Test("A filter for an earlier process is not longer than a filter may be", arguments: versions)
  func length(versions: ProtocolVersions) throws {
    for (word, count) in [
      ("queue:=#1", 400), ("kind:=x", 500), ("state:s", 500), ("!kind:=x|y", 370),
    ] {
      let text = Array(repeating: word, count: count).joined(separator: " ")
      #expect(text.utf8.count <= WireLimits.longestText)
      let filter = try OperationFilter(text)
      let sent = filter.understood(by: versions).text
      #expect(sent.utf8.count <= WireLimits.longestText)
      // Only whole terms are left out, and not more of them than necessary.
      let terms = sent.split(separator: " ")
      #expect(Set(terms).count == 1)
      #expect(terms.count == count || sent.utf8.count > WireLimits.longestText - 20)
      _ = try OperationFilter(sent)
    }
  }
}
