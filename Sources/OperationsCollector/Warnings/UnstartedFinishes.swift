// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// The operations that have finished although their queue had not started them: how many there were,
/// and the last few.
struct UnstartedFinishes {
  /// More than so many are not named.
  static let namedLimit = 5

  private var count = 0
  private var last: [OperationReport] = []
  /// What was added before this moment may have been started while nobody watched.
  private var watchingSince = MonitorTime(nanoseconds: .min)

  /// From now on whatever happens is noted.
  mutating func beginWatching(at now: MonitorTime) { watchingSince = now }

  /// Takes in an operation that is over.
  mutating func note(_ report: OperationReport) {
    guard report.state == .finished, report.started == nil, let added = report.added,
      added >= watchingSince
    else { return }
    count += 1
    if last.count == Self.namedLimit { last.removeLast() }
    last.insert(report, at: 0)
  }

  /// What is to be said of them.
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
