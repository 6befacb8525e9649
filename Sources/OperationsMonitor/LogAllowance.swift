// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Limits the number of log lines of one kind per second. After omitted lines, one more line
/// contains their number. This type does not read a clock.
struct LogAllowance {
  /// The decision about a log line.
  enum Verdict: Equatable {
    case write
    /// Omit the line, and call ``takeOmitted()`` after one second.
    case omitFirst
    /// Omit the line. A call of ``takeOmitted()`` is already scheduled.
    case omit
  }

  private let limit: Int
  private var start: MonitorTime?
  private var count = 0
  private var omitted = 0

  /// Creates the state before the first log line.
  ///
  /// - Parameter limit: The maximum number of log lines per second.
  init(limit: Int) { self.limit = limit }

  /// Decides whether a log line is written now.
  mutating func take(at now: MonitorTime) -> Verdict {
    if start.map({ now - $0 >= .seconds(1) }) ?? true {
      start = now
      count = 0
    }
    count += 1
    if count <= limit { return .write }
    omitted += 1
    return omitted == 1 ? .omitFirst : .omit
  }

  /// Returns the number of log lines that were omitted since the last call.
  mutating func takeOmitted() -> Int {
    defer { omitted = 0 }
    return omitted
  }
}
