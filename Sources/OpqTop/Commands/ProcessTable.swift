// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import Dashboard
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
    let rows = [["PID", "PROGRAM", "UPTIME", "OPS", "MODE", "PROTO"]] + found.map(cells)
    let widths = (0..<6).map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.enumerated().map { index, row in
      let cells = zip(0..., row).map { column, text in
        let gap = String(repeating: " ", count: widths[column] - text.count)
        return column == 1 || column > 3 ? text + gap : gap + text
      }
      let line = cells.joined(separator: "  ")
      guard index > 0, case .failure(let error) = found[index - 1].answer else {
        return String(line.reversed().drop { $0 == " " }.reversed())
      }
      return "\(line)  \(TerminalText.printable("\(error)"))"
    }
    return lines.map { "\($0)\n" }.joined()
  }

  private static func cells(of found: ProcessFinder.Found) -> [String] {
    guard case .success(let greeting) = found.answer else {
      return ["\(found.processID)", "-", "-", "-", "-", "-"]
    }
    let hello = greeting.hello
    return [
      "\(found.processID)", TerminalText.printable(hello.processName, columns: 32),
      TimeText.duration(hello.anchor - hello.processStarted), "\(hello.totalCount)",
      hello.isReadOnly ? "ro" : "rw", "\(greeting.versions)",
    ]
  }
}
