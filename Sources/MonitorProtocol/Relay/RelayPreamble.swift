// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// Recognizes the preamble, which a relay sends before its first message. Other bytes are text of another program, such
/// as a login shell.
package struct RelayPreamble: Sendable, Equatable {
  /// The bytes of the preamble.
  package static let bytes: [UInt8] = [0] + Array("opq-relay".utf8) + [0]
  /// The maximum number of bytes of a text that are kept.
  private static let longestText = 1_024

  /// The result of ``RelayPreamble/take(_:)``.
  package enum Verdict: Equatable {
    /// More bytes are necessary.
    case incomplete
    /// The preamble is complete. Messages begin after this number of the received bytes.
    case complete(Int)
    /// The bytes are not a preamble. ``RelayPreamble/text`` contains their first visible line. If the preamble follows
    /// before the end of this line, it contains the bytes before the preamble. If the text is too long, it contains its
    /// beginning.
    case text
  }

  /// The first bytes that were received, if they are not a preamble; otherwise empty.
  package private(set) var text: [UInt8] = []
  private var matchedCount = 0
  /// Whether no further bytes are added to ``text``.
  private var isTextOver = false

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
    isTextOver = text.count == Self.longestText
    // A relay sends nothing after its preamble until it is greeted, so the end of the line would not arrive.
    if let preamble = text.firstRange(of: Self.bytes) {
      text.removeSubrange(preamble.lowerBound...)
      isTextOver = true
    }
    return firstLine.isComplete ? .text : .incomplete
  }

  /// The first line with a visible character in ``text``, and whether no further bytes of this line are expected. If
  /// there is no such line, the value is ``text`` if no further bytes are expected, and empty otherwise.
  package var firstLine: (text: String, isComplete: Bool) {
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { line in line.contains { $0 > 0x20 } }
    guard let index else {
      return (isTextOver ? String(decoding: text, as: UTF8.self) : "", isTextOver)
    }
    return (
      String(decoding: lines[index], as: UTF8.self), isTextOver || index < lines.count - 1
    )
  }
}
