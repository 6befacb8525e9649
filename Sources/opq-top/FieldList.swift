// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import ArgumentParser
import MonitorProtocol

/// The value of `--fields`: fields of operations with commas between them, each at most once.
enum FieldList {
  /// The words that there are, for help.
  static let words = Frame.Operation.Field.allCases.map(\.rawValue).joined(separator: ", ")

  /// Reads a list.
  ///
  /// - Throws: `ValidationError` where it names what there is not, or one field twice.
  @Sendable static func fields(_ argument: String) throws -> [Frame.Operation.Field] {
    var fields: [Frame.Operation.Field] = []
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let field = Frame.Operation.Field(rawValue: String(word)) else {
        throw ValidationError("there is no field \"\(word)\": there are \(words)")
      }
      guard !fields.contains(field) else { throw ValidationError("\(word) is there twice") }
      fields.append(field)
    }
    return fields
  }
}
