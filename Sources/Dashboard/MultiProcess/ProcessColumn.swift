// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The column that shows the process of an operation or a queue, if several processes are watched.
struct ProcessColumn {
  /// The heading of the process column; empty if there is no such column.
  let title: String
  /// The width of the process column in cells; 0 if there is no such column.
  let width: Int
  private let words: [Int: String]

  /// Creates the process column.
  ///
  /// - Parameters:
  ///   - processes: The watched processes.
  ///   - glyphs: The characters to draw with.
  ///   - limit: The maximum width in cells.
  init(_ processes: [ProcessReport], glyphs: Glyphs, limit: Int) {
    let names = Set(processes.map(\.hello.processName))
    // If two processes run the same program, the column shows process ids instead of names. Two processes on different
    // machines can have the same id. Therefore the host precedes the id, as on the command line.
    let isNamed = names.count == processes.count
    let hasHosts = processes.contains { !$0.hello.host.isEmpty }
    title = processes.isEmpty ? "" : isNamed || hasHosts ? "PROCESS" : "PID"
    words = Dictionary(
      uniqueKeysWithValues: processes.map { process in
        let hello = process.hello
        return (
          process.number, isNamed ? hello.processName : Self.id(hello, glyphs: glyphs, limit: limit)
        )
      })
    width =
      processes.isEmpty
      ? 0 : words.values.reduce(7) { max($0, glyphs.width(of: $1, limit: limit)) }
  }

  /// Returns the host and the id of a process. If the text is too long, the host is cut.
  private static func id(_ hello: Hello, glyphs: Glyphs, limit: Int) -> String {
    let id = "\(hello.processID)"
    if hello.host.isEmpty { return id }
    let room = max(glyphs.ellipsis.unicodeScalars.count, limit - id.utf8.count - 1)
    return "\(glyphs.clipped(hello.host, to: room)):\(id)"
  }

  /// Returns the text of a cell, unsanitised.
  subscript(id: some NumberedByProcess) -> String { words[id.processNumber] ?? "" }
}
