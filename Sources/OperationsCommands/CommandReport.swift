// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Reports the output of a command as the status and the log of its operation.
struct CommandReport: Sendable {
  /// The maximum number of Unicode scalars of a status.
  static let longestStatus = 200

  /// What belongs to both streams of a command.
  private final class Shared: Sendable {
    let lastLine = Locked<String?>(nil)
  }

  private let operation: Operation
  private let shared = Shared()

  init(to operation: Operation) { self.operation = operation }

  /// The last line with a character other than a space, cut to the length of a status; `nil` if there is none.
  var lastLine: String? { shared.lastLine.withLock { $0 } }

  /// Adds a line to the log.
  func log(_ line: String) { operation.appendLogLine(line) }

  /// Reports the last one of several lines as the status.
  func reportStatus(_ line: String) {
    let status = Self.status(of: line)
    shared.lastLine.withLock { $0 = status }
    operation.reportStatus(status)
  }

  /// Reports a status that is not a line of the output.
  func reportState(_ text: String) { operation.reportStatus(text) }

  /// Returns whether a line can be a status.
  static func isStatus(_ line: String) -> Bool {
    line.utf8.contains { $0 > UInt8(ascii: " ") && $0 != 0x7f }
  }

  /// Returns a line as a status. Programs that show their progress in one line begin it again with a carriage return,
  /// so only the text after the last one counts.
  static func status(of line: String) -> String {
    let scalars = line.unicodeScalars
    let parts = scalars.split(separator: "\r").map { String($0) }
    let text = parts.last(where: isStatus) ?? line
    let cut = text.unicodeScalars.prefix(longestStatus)
    return cut.endIndex == text.unicodeScalars.endIndex
      ? text : String(String.UnicodeScalarView(cut.dropLast())) + "…"
  }
}
