// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

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
  mutating func text(of frame: BatchFrame) -> String { text(of: [frame], among: []) }

  /// The text of the frames of one moment, a frame for each process of which there is news.
  ///
  /// - Parameters:
  ///   - frames: The frames.
  ///   - pictures: What is known of all processes, for their sum.
  /// - Returns: The text.
  mutating func text(of frames: [BatchFrame], among pictures: [MonitorPicture]) -> String {
    defer { isFirst = false }
    switch options.format {
    case .text:
      let text = FrameText(fields: options.fields, isUnicode: options.isUnicode)
      let sum = frames.last.map { text.sum(of: pictures, at: $0.time) } ?? ""
      return frames.map { text.text(of: $0) }.joined() + (isOfSeveral ? sum : "")
    case .json:
      return frames.map { $0.jsonLine(fields: options.fields) }.joined()
    case .tsv:
      let table = FrameTSV(
        fields: options.fields ?? BatchFrame.Operation.Field.allCases, namesProcess: isOfSeveral)
      return (isFirst ? table.header : "") + frames.map { table.text(of: $0) }.joined()
    }
  }
}
