// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Recognizes the first bytes of a relay. Other bytes are text of another program, such as a login shell.
package struct RelayPreamble: Sendable, Equatable {
  /// The first bytes of a relay.
  package static let bytes: [UInt8] = [0] + Array("opq-relay".utf8) + [0]
  /// The maximum number of bytes that are kept of a text.
  private static let longestText = 1_024

  /// The result of received bytes.
  package enum Verdict: Equatable {
    /// More bytes are necessary.
    case incomplete
    /// The preamble is complete. Messages begin after this number of the received bytes.
    case complete(Int)
    /// The bytes are not those of a relay, and ``RelayPreamble/text`` has their first line.
    case text
  }

  /// The first bytes, if they are not those of a relay; otherwise empty.
  package private(set) var text: [UInt8] = []
  private var matchedCount = 0

  /// Creates the state before the first byte.
  package init() {}

  /// Handles received bytes. After a result other than ``Verdict/incomplete``, the method must not be called.
  package mutating func take(_ bytes: some Collection<UInt8>) -> Verdict {
    if text.isEmpty {
      let expected = Self.bytes.dropFirst(matchedCount)
      let count = zip(bytes, expected).prefix { $0 == $1 }.count
      if count == expected.count { return .complete(count) }
      if count == bytes.count {
        matchedCount += count
        return .incomplete
      }
      text = Array(Self.bytes.prefix(matchedCount))
    }
    text += bytes.prefix(Self.longestText - text.count)
    return firstLine.isComplete || text.count == Self.longestText ? .text : .incomplete
  }

  /// The first line of the text that has a visible character, and whether its end has arrived.
  package var firstLine: (text: String, isComplete: Bool) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { line in line.contains { $0 > 0x20 } }
    guard let index else { return ("", false) }
    return (String(decoding: lines[index], as: UTF8.self), index < lines.count - 1)
  }
}
