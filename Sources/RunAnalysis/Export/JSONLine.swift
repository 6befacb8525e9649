// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationEssentials
package import MonitorProtocol

/// Encodes values as lines of JSON that are safe on a terminal.
package enum JSONLine {
  /// Returns a value as one line, with a line break at the end.
  ///
  /// - Parameters:
  ///   - value: The value to encode.
  ///   - fields: The fields of each operation to write; `nil` for all.
  /// - Returns: An object without line breaks in it, and a line break after it.
  package static func text(of value: some Encodable, fields: [BatchFrame.Operation.Field]? = nil)
    -> String
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if let fields, let key = BatchFrame.Operation.fieldsKey { encoder.userInfo[key] = fields }
    // The encoder encodes numbers, strings, arrays and objects; none of them can fail.
    guard let data = try? encoder.encode(value) else { return "" }
    return escaped(String(decoding: data, as: UTF8.self)) + "\n"
  }

  /// Escapes characters that JSON permits and that control a terminal. They occur only in strings.
  private static func escaped(_ json: String) -> String {
    guard json.utf8.contains(where: { $0 >= 0x7F }) else { return json }
    var escaped = String.UnicodeScalarView()
    for scalar in json.unicodeScalars {
      if scalar.isObeyed {
        escaped.append(contentsOf: "\\u\(scalar.hexadecimal(digits: 4))".unicodeScalars)
      } else {
        escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

extension BatchFrame {
  /// Returns the frame as one line of JSON, with a line break at the end.
  ///
  /// - Parameter fields: The fields of each operation to write; `nil` for all.
  /// - Returns: An object without line breaks in it, and a line break after it.
  package func jsonLine(fields: [Operation.Field]? = nil) -> String {
    JSONLine.text(of: self, fields: fields)
  }
}
