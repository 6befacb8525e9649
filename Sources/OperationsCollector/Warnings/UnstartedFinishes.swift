// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that finished although their queue had not started them: their number, and the
/// last few.
struct UnstartedFinishes {
  /// The maximum number of named operations.
  static let namedLimit = 5

  private var count = 0
  private var last: [OperationReport] = []
  /// Operations that were added before this moment may have been started before monitoring began.
  private var watchingSince = MonitorTime(nanoseconds: .min)

  /// Begins to watch.
  mutating func beginWatching(at now: MonitorTime) { watchingSince = now }

  /// Adds a finished or cancelled operation.
  mutating func note(_ report: OperationReport) {
    guard report.state == .finished, report.started == nil, let added = report.added,
      added >= watchingSince
    else { return }
    count += 1
    if last.count == Self.namedLimit { last.removeLast() }
    last.insert(report, at: 0)
  }

  /// The current warnings.
  var warnings: [MonitorWarning] {
    guard let first = last.first else { return [] }
    return [
      MonitorWarning(
        kind: .finishedWithoutStart, operations: last.map(\.id),
        title: first.name.isEmpty ? first.className : first.name, count: count,
        since: first.finished)
    ]
  }
}
