// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Yams

/// Writes a tree as YAML. A text without quotation marks stays without them, so that numbers and the words `true` and
/// `false` keep their meaning.
package enum YAMLWriter {
  /// The reason why a tree cannot be written: it has a text that YAML cannot represent.
  package struct Failure: Error {}

  /// Returns the text of a file with this tree.
  ///
  /// - Throws: ``Failure`` if a text cannot be represented.
  package static func text(of tree: JobFileNode) throws(Failure) -> String {
    do {
      // The width is not limited, so that no text is broken into lines.
      return try Yams.serialize(node: node(tree), width: -1, allowUnicode: true)
    } catch {
      throw Failure()
    }
  }

  private static func node(_ tree: JobFileNode) -> Node {
    switch tree.content {
    case .text(let text, let isQuoted):
      // An empty text without quotation marks is the value null.
      return Node(text, Tag(.implicit), isQuoted ? .doubleQuoted : .plain)
    case .list(let elements):
      return Node(elements.map { node($0) }, Tag(.implicit), .block)
    case .mapping(let entries):
      let pairs = entries.map { entry in
        (
          Node(entry.key, Tag(.implicit), entry.key.isPlain ? .plain : .doubleQuoted),
          node(entry.value)
        )
      }
      return Node(pairs, Tag(.implicit), .block)
    }
  }
}

extension String {
  /// Whether the text has only ASCII letters, digits and signs that have no meaning in YAML, so that it needs no
  /// quotation marks.
  package var isPlain: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "/"), UInt8(ascii: "_"):
          true
        default: byte == UInt8(ascii: "-") && utf8.count > 1
        }
      }
  }
}
