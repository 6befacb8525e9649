// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Yams

/// Reads a file that is written in YAML.
package struct YAMLReader {
  /// The words for the file in messages, such as `a job file`.
  private let words: String

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - text: The contents of the file.
  ///   - words: The words for the file in messages.
  /// - Returns: The tree; `nil` if the file has no content.
  /// - Throws: ``JobFileMistake`` if the text is not YAML, or has anchors or aliases.
  package static func tree(
    of text: String, _ words: String = "a job file"
  ) throws(JobFileMistake) -> JobFileNode? {
    let reader = YAMLReader(words: words)
    // An alias repeats a node, so a short file could contain a huge number of nodes. The parser compares the
    // keys of a mapping with all nodes in them, which would not end if a key contained such aliases.
    // Therefore the parser must not see an alias: the text is first parsed with anchors in place of all
    // aliases. If this text has no anchor outside of scalars, the original text has no alias.
    if let text = replacingAliases(text) { _ = try reader.parse(text) }
    return try reader.parse(text)
  }

  private func parse(_ text: String) throws(JobFileMistake) -> JobFileNode? {
    do {
      // With this resolver all scalars are texts, so that the keys `no` and "no" are equal.
      let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
      // A node does not retain its anchor. The parser does.
      return try withExtendedLifetime(parser) {
        try parser.singleRoot().map { try convert($0, depth: 0) }
      }
    } catch let mistake as JobFileMistake {
      throw mistake
    } catch let error as YamlError {
      let mistake = JobFileMistake(error)
      // The parser reports a mistake at the end of the file one line after the last one.
      let lineCount = text.utf8.dropLast().count { $0 == UInt8(ascii: "\n") } + 1
      throw JobFileMistake(min(mistake.line, lineCount), mistake.message, mistake.kind)
    } catch {
      throw JobFileMistake(1, "the file is not YAML", .syntax)
    }
  }

  /// Returns a text of the same length in which each `*` before a letter, a digit, `_` or `-` is a `&`; `nil`
  /// if there is no such `*`.
  private static func replacingAliases(_ text: String) -> String? {
    var bytes = Array(text.utf8)
    var isChanged = false
    for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "*") {
      switch bytes[index + 1] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
        bytes[index] = UInt8(ascii: "&")
        isChanged = true
      default: continue
      }
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private func convert(_ node: Node, depth: Int) throws(JobFileMistake) -> JobFileNode {
    let line = node.mark?.line ?? 1
    guard depth <= JobFileNode.deepest else { throw .tooDeep(line) }
    guard node.anchor == nil else {
      throw JobFileMistake(line, "\(words) cannot have anchors and aliases")
    }
    switch node {
    case .scalar(let scalar):
      return JobFileNode(line, .text(scalar.string, isQuoted: scalar.style != .plain))
    case .sequence(let sequence):
      var elements: [JobFileNode] = []
      for element in sequence { elements.append(try convert(element, depth: depth + 1)) }
      return JobFileNode(line, .list(elements))
    case .mapping(let mapping):
      var entries: [JobFileNode.Entry] = []
      for (key, value) in mapping {
        let key = try convert(key, depth: depth + 1)
        guard case .text(let name, _) = key.content else {
          throw JobFileMistake(key.line, "a key must be a text")
        }
        let value = try convert(value, depth: depth + 1)
        entries.append(JobFileNode.Entry(key: name, line: key.line, value: value))
      }
      return JobFileNode(line, .mapping(entries))
    case .alias:
      throw JobFileMistake(line, "\(words) cannot have anchors and aliases")
    }
  }
}

extension JobFileMistake {
  /// Describes an error of the YAML parser in one sentence.
  fileprivate init(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
      self.init(mark.line, "the file is not YAML: \(problem)", .syntax)
    case .composer(_, _, let mark, _):
      // The parser reports two errors of this kind. The other one, an unknown alias, cannot occur.
      self.init(mark.line, "the file has more than one YAML document")
    case .reader(let problem, let offset, _, let yaml):
      let line = 1 + yaml.prefix(offset ?? 0).count { $0.isNewline }
      self.init(line, "the file is not YAML: \(problem)", .syntax)
    case .duplicatedKeysInMapping(let keys, let context):
      self = .repeated(keys.first ?? "", context.mark.line)
    case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(1, "the file is not YAML", .syntax)
    }
  }
}
