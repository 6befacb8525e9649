// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Turns frames into what batch mode prints.
struct FramePrinter {
  private let options: BatchOptions
  private var isFirst = true

  init(_ options: BatchOptions) { self.options = options }

  /// The text of the next frame, with the end of its last line.
  mutating func text(of frame: Frame) -> String {
    defer { isFirst = false }
    switch options.format {
    case .text:
      return FrameText(fields: options.fields, isUnicode: options.isUnicode).text(of: frame)
    case .json:
      return frame.jsonLine(fields: options.fields)
    case .tsv:
      let table = FrameTSV(fields: options.fields ?? Frame.Operation.Field.allCases)
      return (isFirst ? table.header : "") + table.text(of: frame)
    }
  }
}
