// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Counts the operations that finished although their queue had not started them, and keeps the
/// last few of these operations.
struct UnstartedFinishes {
  /// The maximum number of operations that the warning lists. The warning is about operations that
  /// finished although their queue had not started them.
  static let namedLimit = 5

  private var count = 0
  private var last: [OperationReport] = []
  /// The time at which monitoring began. Operations that were added earlier are ignored, because
  /// they may have been started before monitoring began.
  private var watchingSince = MonitorTime(nanoseconds: .min)

  /// Sets the time at which monitoring began.
  mutating func beginWatching(at now: MonitorTime) { watchingSince = now }

  /// Counts a finished operation if its queue had not started it.
  mutating func note(_ report: OperationReport) {
    guard report.state.isOver, report.state != .cancelled, report.started == nil,
      let added = report.added, added >= watchingSince
    else { return }
    count += 1
    if last.count == Self.namedLimit { last.removeLast() }
    last.insert(report, at: 0)
  }

  /// The current warning about operations that finished although their queue had not started them.
  /// The array is empty if there are no such operations.
  var warnings: [MonitorWarning] {
    guard let first = last.first else { return [] }
    return [
      MonitorWarning(
        kind: .finishedWithoutStart, operations: last.map(\.id),
        title: first.title, count: count,
        since: first.finished)
    ]
  }
}
