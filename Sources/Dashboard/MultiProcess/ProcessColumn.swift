// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The column that says of which process something is, where several are watched as one.
struct ProcessColumn {
  /// What stands at its head; empty where there is no such column.
  let title: String
  /// How many cells it takes; 0 where there is no such column.
  let width: Int
  private let words: [Int: String]

  /// - Parameters:
  ///   - processes: The processes.
  ///   - glyphs: What they are drawn with.
  ///   - limit: The most cells.
  init(_ processes: [ProcessReport], glyphs: Glyphs, limit: Int) {
    let names = Set(processes.map(\.hello.processName))
    // What tells two of the same program apart is the number.
    let isNamed = names.count == processes.count
    title = processes.isEmpty ? "" : isNamed ? "PROCESS" : "PID"
    words = Dictionary(
      uniqueKeysWithValues: processes.map {
        ($0.number, isNamed ? $0.hello.processName : "\($0.hello.processID)")
      })
    width =
      processes.isEmpty
      ? 0 : words.values.reduce(7) { max($0, glyphs.width(of: $1, limit: limit)) }
  }

  /// What stands in it; unsanitised.
  subscript(id: some NumberedByProcess) -> String { words[id.processNumber] ?? "" }
}
