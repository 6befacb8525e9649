// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A value in a job file or in the settings file: a text, a list or a mapping. It does not depend on the syntax of the
/// file.
package struct JobFileNode: Hashable, Sendable {
  /// A key of a mapping with its value.
  package struct Entry: Hashable, Sendable {
    /// The key.
    package let key: String
    /// The line of the key.
    package let line: Int
    /// The value.
    package let value: JobFileNode

    /// Creates an entry.
    package init(key: String, line: Int, value: JobFileNode) {
      self.key = key
      self.line = line
      self.value = value
    }
  }

  /// The content of a value.
  package enum Content: Hashable, Sendable {
    /// A text as it is written in the file, without its quotation marks. Numbers and the words `true` and
    /// `false` are texts without quotation marks.
    case text(String, isQuoted: Bool)
    /// The elements in the order of the file.
    case list([JobFileNode])
    /// The entries in the order of the file. No key occurs twice.
    case mapping([Entry])
  }

  /// The maximum number of lists and mappings that contain each other.
  static let deepest = 64

  /// The line at which the value begins; the first line is 1.
  package let line: Int
  /// The content of the value.
  package let content: Content

  /// Creates a value that begins at a line.
  package init(_ line: Int, _ content: Content) {
    self.line = line
    self.content = content
  }
}

extension JobFileMistake {
  static func tooDeep(_ line: Int) -> Self {
    Self(line, "more than \(JobFileNode.deepest) lists and mappings contain each other")
  }

  static func repeated(_ key: String, _ line: Int) -> Self {
    Self(line, "the key \(key.quoted) is given twice in one mapping", .repeatedKey)
  }
}
