// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import RunAnalysis

/// Formats frames for batch mode.
struct FramePrinter {
  private let options: BatchOptions
  /// Whether several processes are watched. If so, each line that is not a JSON object names the
  /// process.
  private let isMultiProcess: Bool
  /// Whether several processes are watched and one of them runs on another machine. If so, each line of tab-separated
  /// values contains the host. In the other formats, each frame of a process on another machine names the host.
  private let namesHost: Bool
  private var isFirst = true

  init(_ options: BatchOptions, isMultiProcess: Bool = false, namesHost: Bool = false) {
    self.options = options
    self.isMultiProcess = isMultiProcess
    self.namesHost = namesHost
  }

  /// Returns the text of the next frame. The text ends with a line feed.
  mutating func text(of frame: BatchFrame) -> String { text(of: [frame], among: []) }

  /// Returns the text of all frames for one moment. There is one frame for each process that has
  /// changed.
  ///
  /// - Parameters:
  ///   - frames: The frames.
  ///   - pictures: The states of all processes, from which the sums are calculated.
  /// - Returns: The text.
  mutating func text(of frames: [BatchFrame], among pictures: [MonitorPicture]) -> String {
    defer { isFirst = false }
    switch options.format {
    case .text:
      let text = FrameText(fields: options.fields, isUnicode: options.isUnicode)
      let sum = frames.last.map { text.sum(of: pictures, at: $0.time) } ?? ""
      return frames.map { text.text(of: $0) }.joined() + (isMultiProcess ? sum : "")
    case .json:
      return frames.map { $0.jsonLine(fields: options.fields) }.joined()
    case .tsv:
      let table = FrameTSV(
        fields: options.fields ?? BatchFrame.Operation.Field.allCases,
        namesProcess: isMultiProcess, namesHost: namesHost)
      return (isFirst ? table.header : "") + frames.map { table.text(of: $0) }.joined()
    }
  }
}
