// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How many lines of one kind viewers may cause in a log: so many in a second, and one more that says
/// how many were left out. Without a clock.
struct LogAllowance {
  /// What is to be done with a line.
  enum Verdict: Equatable {
    case write
    /// Leave it out, and ask ``takeOmitted()`` in a second.
    case omitFirst
    /// Leave it out; that has been asked for.
    case omit
  }

  private let limit: Int
  private var start: MonitorTime?
  private var count = 0
  private var omitted = 0

  /// - Parameter limit: How many lines of a second are written.
  init(limit: Int) { self.limit = limit }

  /// Judges a line that is to be written now.
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

  /// How many lines were left out since the last call.
  mutating func takeOmitted() -> Int {
    defer { omitted = 0 }
    return omitted
  }
}
