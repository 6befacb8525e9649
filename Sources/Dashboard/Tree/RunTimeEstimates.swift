// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// How long operations will probably run on, judged by how long others of their class ran lately; of
/// classes that are used for everything that says nothing.
struct RunTimeEstimates: Sendable, Equatable {
  /// The median of fewer runs than these says nothing.
  static let fewestRuns = 5

  private let medians: [String: Duration]
  private let now: MonitorTime

  /// Estimates from the statistics of classes; by default none.
  init(
    _ times: [String: TimeStatistics] = [:], at now: MonitorTime = MonitorTime(nanoseconds: 0)
  ) {
    medians = times.filter { !SharedClass.contains($0.key) }.compactMapValues { times in
      times.run.flatMap { $0.count >= Self.fewestRuns ? $0.p50 : nil }
    }
    self.now = now
  }

  /// How long an unfinished operation will run from now on, waiting not included; `nil` where nothing
  /// is known of its class.
  func remainingTime(of report: OperationReport) -> Duration? {
    guard let median = medians[report.className] else { return nil }
    guard let started = report.started else { return report.state == .cancelling ? .zero : median }
    return max(.zero, median - max(.zero, now - started))
  }
}
