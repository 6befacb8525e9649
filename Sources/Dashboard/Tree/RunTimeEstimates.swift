// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Estimates of how long operations will still run, from the recent run times of their class. For classes
/// with many different uses the estimates have no meaning.
struct RunTimeEstimates: Sendable, Equatable {
  /// The minimum number of runs for a useful median.
  static let fewestRuns = 5

  private let medians: [String: Duration]
  private let now: MonitorTime

  /// Creates estimates from the statistics of classes; none by default.
  init(
    _ times: [String: TimeStatistics] = [:], at now: MonitorTime = MonitorTime(nanoseconds: 0)
  ) {
    medians = times.filter { !SharedClass.contains($0.key) }.compactMapValues { times in
      times.run.flatMap { $0.count >= Self.fewestRuns ? $0.p50 : nil }
    }
    self.now = now
  }

  /// Returns how long an unfinished operation will still run, without waiting times; `nil` if its class is
  /// unknown.
  func remainingTime(of report: OperationReport) -> Duration? {
    guard let median = medians[report.className] else { return nil }
    guard let started = report.started else { return report.state == .cancelling ? .zero : median }
    return max(.zero, median - max(.zero, now - started))
  }
}
