// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorClient
import MonitorProtocol

/// Formats the processes that can be watched as text, with one line for each process.
enum ProcessTable {
  /// The message if no process can be watched.
  static let emptyMessage =
    "no monitored process found; start one with OPQ_MONITOR=rw, or call OperationMonitor.listen()"

  /// Returns a header and a line for each process. The text contains no escape sequences, even if
  /// the names of processes do.
  static func text(of found: [ProcessFinder.Found]) -> String {
    var table = TextTable(
      [
        .init(title: "PID", width: 0, isRightAligned: true), .init(title: "PROGRAM", width: 0),
        .init(title: "UPTIME", width: 0, isRightAligned: true),
        .init(title: "OPS", width: 0, isRightAligned: true), .init(title: "MODE", width: 0),
        .init(title: "PROTO", width: 0), .init(title: "", width: 0),
      ], isUnicode: true, gap: 2)
    for process in found { table.add(cells(of: process)) }
    return table.lines.map { "\($0)\n" }.joined()
  }

  private static func cells(of found: ProcessFinder.Found) -> [String] {
    switch found.answer {
    case .failure(let error):
      return ["\(found.processID)", "-", "-", "-", "-", "-", "\(error)"]
    case .success(let greeting):
      let hello = greeting.hello
      return [
        "\(found.processID)", hello.processName,
        TimeText.duration(hello.anchor - hello.processStarted), "\(hello.totalCount)",
        hello.isReadOnly ? "ro" : "rw", "\(greeting.versions)", "",
      ]
    }
  }
}
