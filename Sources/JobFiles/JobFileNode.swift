// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A value in a job file: a text, a list or a mapping. It does not depend on the syntax of the file.
struct JobFileNode: Hashable, Sendable {
  /// A key of a mapping with its value.
  struct Entry: Hashable, Sendable {
    let key: String
    /// The line of the key.
    let line: Int
    let value: JobFileNode
  }

  enum Content: Hashable, Sendable {
    /// A text as it is written in the file, without its quotation marks. Numbers and the words `true` and
    /// `false` are texts without quotation marks.
    case text(String, isQuoted: Bool)
    case list([JobFileNode])
    /// The entries in the order of the file. No key occurs twice.
    case mapping([Entry])
  }

  /// The maximum number of lists and mappings that contain each other.
  static let deepest = 64

  /// The line at which the value begins; the first line is 1.
  let line: Int
  let content: Content

  init(_ line: Int, _ content: Content) {
    self.line = line
    self.content = content
  }
}

extension JobFileMistake {
  static func tooDeep(_ line: Int) -> Self {
    Self(line, "more than \(JobFileNode.deepest) lists and mappings contain each other")
  }

  static func repeated(_ key: String, _ line: Int) -> Self {
    Self(line, "the key \(key.quoted) is given twice in one mapping")
  }
}
