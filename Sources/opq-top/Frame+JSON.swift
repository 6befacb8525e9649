// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import FoundationEssentials
import MonitorProtocol

extension Frame {
  /// The frame as one line of JSON, with the end of the line.
  var jsonLine: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // It encodes numbers, strings, arrays and objects, of which none can fail.
    guard let data = try? encoder.encode(self) else { return "" }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
