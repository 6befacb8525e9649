// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationEssentials
package import MonitorProtocol

/// Encodes values as lines of JSON that are safe on a terminal.
package enum JSONLine {
  /// Returns the JSON of a value as one line that ends with a line break.
  ///
  /// - Parameters:
  ///   - value: The value to encode.
  ///   - fields: The fields to write of each operation; `nil` for all fields.
  /// - Returns: A JSON object without line breaks in it, followed by a line break.
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

  /// Escapes characters that JSON permits although they control a terminal. Such characters occur only in
  /// strings.
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
  /// Returns the JSON of the frame as one line that ends with a line break.
  ///
  /// - Parameter fields: The fields to write of each operation; `nil` for all fields.
  /// - Returns: A JSON object without line breaks in it, followed by a line break.
  package func jsonLine(fields: [Operation.Field]? = nil) -> String {
    JSONLine.text(of: self, fields: fields)
  }
}
