// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// A mistake in a job file.
package struct JobFileError: Error, Hashable, CustomStringConvertible {
  /// The name of the file, as the caller has given it.
  package let file: String
  /// The line of the mistake; the first line is 1.
  package let line: Int
  /// The mistake as one sentence. Characters that control a terminal are escaped.
  package let message: String

  /// The place and the mistake in the form `FILE:LINE: sentence`.
  package var description: String { "\(EscapedText.escaped(file)):\(line): \(message)" }
}

/// A mistake in a job file or in the settings file, without the name of the file.
package struct JobFileMistake: Error, Hashable {
  /// The kinds of mistakes that a caller may describe in its own words.
  package enum Kind: Sendable {
    /// The text is not YAML.
    case syntax
    /// A mapping has a key twice. The line is that of the first one.
    case repeatedKey
    /// Another mistake.
    case other
  }

  /// The line of the mistake; the first line is 1.
  package let line: Int
  /// The mistake as one sentence. Characters that control a terminal are escaped.
  package let message: String
  /// The kind of the mistake.
  package let kind: Kind

  /// Creates a mistake in a line.
  package init(_ line: Int, _ message: String, _ kind: Kind = .other) {
    self.line = line
    self.message = message
    self.kind = kind
  }
}

extension String {
  /// The text in quotation marks, as it appears in a message: escaped, and shortened to 60 characters.
  package var quoted: String {
    // A character may consist of any number of scalars, so the scalars are counted.
    let beginning = unicodeScalars.prefix(61)
    let isLong = beginning.count > 60
    let shown = isLong ? String(String.UnicodeScalarView(beginning.prefix(57))) : self
    return "\"\(EscapedText.escaped(shown))\(isLong ? "..." : "")\""
  }

  /// Returns the advice after a message about an unknown name: the nearest of the known names, or a list of
  /// the names if there are at most `limit`.
  package static func advice(
    _ word: String, _ names: [String], _ kind: String, limit: Int = 10
  ) -> String {
    if let nearest = NearestName.nearest(to: word, in: names, limit: 2) {
      return "; did you mean \(nearest.quoted)?"
    }
    guard !names.isEmpty, names.count <= limit else { return "" }
    return "; the \(kind) are " + names.map(\.quoted).joined(separator: ", ")
  }
}
