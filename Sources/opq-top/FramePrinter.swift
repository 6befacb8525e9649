// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Turns frames into what batch mode prints.
struct FramePrinter {
  private let options: BatchOptions
  /// Whether several processes are watched, so that what is not an object of its own names its process.
  private let isOfSeveral: Bool
  private var isFirst = true

  init(_ options: BatchOptions, isOfSeveral: Bool = false) {
    self.options = options
    self.isOfSeveral = isOfSeveral
  }

  /// The text of the next frame, with the end of its last line.
  mutating func text(of frame: Frame) -> String { text(of: [frame]) }

  /// The text of the frames of one moment, a frame for each process.
  mutating func text(of frames: [Frame]) -> String {
    defer { isFirst = false }
    switch options.format {
    case .text:
      let text = FrameText(fields: options.fields, isUnicode: options.isUnicode)
      return frames.map { text.text(of: $0) }.joined() + (isOfSeveral ? text.sum(of: frames) : "")
    case .json:
      return frames.map { $0.jsonLine(fields: options.fields) }.joined()
    case .tsv:
      let table = FrameTSV(
        fields: options.fields ?? Frame.Operation.Field.allCases, namesProcess: isOfSeveral)
      return (isFirst ? table.header : "") + frames.map { table.text(of: $0) }.joined()
    }
  }
}
