// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// A line that the code of an operation has logged.
public struct LogLine: Sendable, Equatable {
  /// How important a line is, from the least important level on.
  public enum Level: String, Codable, Sendable, Hashable, CaseIterable {
    /// Each step of the program.
    case trace
    /// Information for finding a fault.
    case debug
    /// Information about normal work.
    case info
    /// A condition that is not an error, and that may need attention.
    case notice
    /// A condition that is not an error, and that is more important than a notice.
    case warning
    /// An error.
    case error
    /// An error that needs attention at once.
    case critical
  }

  /// The maximum size of a line's text in bytes of UTF-8.
  public static let longestText = 500

  /// The time at which the line was logged.
  public var time: MonitorTime
  /// How important the line is.
  public var level: Level
  /// The text of the line, unsanitised. It may contain any characters.
  public var text: String

  /// Creates a line.
  public init(time: MonitorTime, level: Level, text: String) {
    self.time = time
    self.level = level
    self.text = text
  }
}

/// Log lines of one operation that follow each other.
public struct OperationLog: Sendable, Equatable {
  /// The maximum number of lines that a process or a viewer keeps of one operation.
  public static let lineLimit = 50

  /// The operation that has logged the lines.
  public var operation: OperationReport.ID
  /// The number of the first line, which is the number of lines that the operation has logged before.
  public var first: UInt64
  /// The lines, the oldest first.
  public var lines: [LogLine]
  /// If there are no lines, whether the process may have dropped all lines of the operation.
  public var mayBeDropped: Bool

  /// Creates a log. By default, it has no lines.
  public init(
    of operation: OperationReport.ID, first: UInt64 = 0, lines: [LogLine] = [],
    mayBeDropped: Bool = false
  ) {
    self.operation = operation
    self.first = first
    self.lines = lines
    self.mayBeDropped = mayBeDropped
  }

  /// The number of the line that follows the last one.
  package var end: UInt64 { first + UInt64(lines.count) }

  /// The number of lines that were logged before the first line and are no longer stored.
  public var droppedCount: Int { Int(clamping: first) }

  /// Returns the part of the log from the line with a number on.
  package func from(_ number: UInt64) -> OperationLog {
    guard number > first else { return self }
    var rest = self
    rest.lines.removeFirst(min(lines.count, Int(clamping: number - first)))
    rest.first = end - UInt64(rest.lines.count)
    return rest
  }
}
