// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The number of lines of one kind that viewers may cause in a log: up to a limit in a second, and one more
/// line with the number of omitted lines. It has no clock.
struct LogAllowance {
  /// The decision about a line.
  enum Verdict: Equatable {
    case write
    /// Omit the line, and call ``takeOmitted()`` in a second.
    case omitFirst
    /// Omit the line; the call is already scheduled.
    case omit
  }

  private let limit: Int
  private var start: MonitorTime?
  private var count = 0
  private var omitted = 0

  /// - Parameter limit: The maximum number of lines in a second.
  init(limit: Int) { self.limit = limit }

  /// Decides whether to write a line now.
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

  /// Returns how many lines were omitted since the last call.
  mutating func takeOmitted() -> Int {
    defer { omitted = 0 }
    return omitted
  }
}
