// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

extension Frame {
  /// The frame as one line of JSON, with the end of the line.
  ///
  /// - Parameter fields: What is written of each operation; `nil` for everything.
  /// - Returns: An object without line breaks in it, and one behind it.
  func jsonLine(fields: [Operation.Field]? = nil) -> String {
    JSONLine.text(of: self, fields: fields)
  }
}
