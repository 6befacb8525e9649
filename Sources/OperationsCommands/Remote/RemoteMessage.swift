// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// A report of the work to the operation that waits for it. Messages are lines of a file.
enum RemoteMessage: Hashable, Sendable {
  /// The number of completed units, and of all units.
  case progress(completed: Int, total: Int)
  /// The status; empty if there is none.
  case status(String)
  /// A line of the log.
  case log(OperationLogLevel, String)

  /// The maximum number of Unicode scalars of a text. Viewers show fewer scalars of a status, and a log line has at
  /// most as many.
  static let longestText = 1_000

  /// The message as a line, without a line feed.
  var line: String {
    switch self {
    case .progress(let completed, let total): "p \(completed) \(total)"
    case .status(let text): "s \(Self.escaped(text))"
    case .log(let level, let text): "l \(level.rawValue) \(Self.escaped(text))"
    }
  }

  /// Reads a line; `nil` if it is not a message, for example because it is incomplete.
  init?(line: String) {
    let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let rest = parts[1].split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    switch parts[0] {
    case "p":
      guard rest.count == 2, let completed = Int(rest[0]), let total = Int(rest[1]) else {
        return nil
      }
      self = .progress(completed: completed, total: total)
    case "s": self = .status(Self.unescaped(parts[1]))
    case "l":
      guard rest.count == 2, let level = UInt8(rest[0]).flatMap(OperationLogLevel.init) else {
        return nil
      }
      self = .log(level, Self.unescaped(rest[1]))
    default: return nil
    }
  }

  /// Returns the beginning of a text without characters that end a line.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(longestText) {
      switch scalar {
      case "\\": result += "\\\\".unicodeScalars
      case "\n": result += "\\n".unicodeScalars
      case "\r": result += "\\r".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func unescaped(_ text: Substring) -> String {
    var result = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        result.append(scalar == "n" ? "\n" : scalar == "r" ? "\r" : scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }
}

/// What an operation has reported, and which part of it was sent.
struct SentReports: Sendable {
  private var progress: RemoteMessage?
  private var status: RemoteMessage = .status("")

  /// The sequence number of the last line of the log that was sent; 0 if there is none.
  private(set) var lastSequence: UInt64 = 0

  init() {}

  /// Returns the messages about changes since the last call. The lines of the log come first, because the reader may
  /// ignore the first messages if there are very many.
  mutating func messages(
    progress: (completed: Int, total: Int)?, status: String?, lines: [OperationLogLine]
  ) -> [RemoteMessage] {
    var messages = lines.map { RemoteMessage.log($0.level, $0.text) }
    lastSequence = lines.last?.sequence ?? lastSequence
    let status = RemoteMessage.status(status ?? "")
    if status != self.status { messages.append(status) }
    self.status = status
    if let progress {
      let progress = RemoteMessage.progress(completed: progress.completed, total: progress.total)
      if progress != self.progress { messages.append(progress) }
      self.progress = progress
    }
    return messages
  }
}
