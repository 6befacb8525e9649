// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The last lines that a process has written. Any thread may call any method.
final class LastLines: Sendable {
  /// The maximum number of lines.
  static let limit = 10

  private let state = Locked<[String]>([])

  /// Adds a line, unless it has no visible character or belongs to a stack trace. A long line is cut to the length of a
  /// status.
  func note(_ line: String) {
    guard CommandReport.isStatus(line), !Self.isStackTrace(line) else { return }
    let line = CommandReport.status(of: line)
    state.withLock { lines in
      if lines.count == Self.limit { lines.removeFirst() }
      lines.append(line)
    }
  }

  /// Whether a line belongs to the stack trace that the Swift runtime writes after the message of a fatal error. These
  /// lines are left out, so that the message is the last line.
  private static func isStackTrace(_ line: String) -> Bool {
    line == "Current stack trace:" || line.starts(with: #/[0-9]+ +[^ ]+ +0x[0-9a-f]{16}/#)
  }

  /// The lines, the oldest first.
  var lines: [String] { state.withLock { $0 } }
}
