// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// The last lines that a process has written. Any thread may call any method.
final class LastLines: Sendable {
  /// The maximum number of lines.
  static let limit = 10

  private let state = Locked<[String]>([])

  /// Adds a line, unless it has no visible character. A long line is cut to the length of a status.
  func note(_ line: String) {
    guard CommandReport.isStatus(line) else { return }
    let line = CommandReport.status(of: line)
    state.withLock { lines in
      if lines.count == Self.limit { lines.removeFirst() }
      lines.append(line)
    }
  }

  /// The lines, the oldest first.
  var lines: [String] { state.withLock { $0 } }
}
