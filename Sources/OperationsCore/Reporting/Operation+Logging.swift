// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// How important a log line is. The levels are those of swift-log.
public enum OperationLogLevel: UInt8, Sendable, Hashable, CaseIterable, Comparable {
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

  /// Whether `left` is less important than `right`.
  public static func < (left: OperationLogLevel, right: OperationLogLevel) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension OperationSupplement where Self: Operation {
  /// Adds a line to the log of the operation, which `opq-top` shows.
  ///
  /// If a program logs with swift-log, `OperationLogHandler` of the module OperationsMonitor calls
  /// this method for each line. Call it yourself to connect another log system.
  ///
  /// The process stores the last 50 lines of each operation, also while nothing watches it. All lines
  /// together take at most 4 MiB of memory. If they exceed this limit, the operations that have not
  /// logged for the longest time lose their lines. Viewers show the number of dropped lines. A call
  /// copies the text, and holds the lock of the process's lines for a short time.
  ///
  /// The method can be called on any thread, before, during and after the execution of the operation.
  /// The lines of the operation that a ``RetryOperation`` or a ``TimeoutOperation`` runs are lines of
  /// that retry or timeout.
  ///
  /// - Parameters:
  ///   - text: The text of the line. At most 500 bytes of UTF-8 are stored, and "…" shows that the text
  ///     was cut. It may contain any characters: `opq-top` replaces those that control a terminal.
  ///   - level: The importance of the line.
  public func appendLogLine(_ text: String, level: OperationLogLevel = .info) {
    OperationLogStore.shared.append(
      text, level: level, of: (self as Operation).outermostRunner)
  }
}
