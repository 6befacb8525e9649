// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol

/// Estimates of the remaining run times of operations. They are computed from recent run times of the same
/// kind. If a kind has many different uses, the estimates for it are not reliable.
struct RunTimeEstimates: Sendable, Equatable {
  /// The minimum number of finished runs of a kind. With fewer runs, there is no estimate for the kind.
  static let fewestRuns = 5

  /// The operations that have no remaining run time, because they never finish.
  let deadlocked: DeadlockedOperations

  private let medians: [String: Duration]
  private let now: MonitorTime

  /// Creates estimates from the waiting and run times of kinds. Without such times, there are no estimates.
  init(
    _ times: [String: TimeStatistics] = [:],
    deadlocked: DeadlockedOperations = DeadlockedOperations(),
    at now: MonitorTime = MonitorTime(nanoseconds: 0)
  ) {
    self.deadlocked = deadlocked
    medians = times.filter { !SharedClass.contains($0.key) }.compactMapValues { times in
      times.run.flatMap { $0.count >= Self.fewestRuns ? $0.p50 : nil }
    }
    self.now = now
  }

  /// Returns how long each of the unfinished operations will probably still run; `nil` if there is no estimate for
  /// the kind of one of them.
  func remainingTimes(of vertices: [Int], in graph: OperationGraph) -> [Duration]? {
    var times: [Duration] = []
    for vertex in vertices {
      guard !medians.isEmpty, let time = remainingTime(of: graph.reports[vertex]) else {
        return nil
      }
      times.append(time)
    }
    return times
  }

  /// Returns how long an unfinished operation will probably still run, without waiting times; `nil` if there
  /// is no estimate for its kind.
  func remainingTime(of report: OperationReport) -> Duration? {
    guard let median = medians[report.kind] else { return nil }
    guard let started = report.started else { return report.state == .cancelling ? .zero : median }
    return max(.zero, median - max(.zero, now - started))
  }
}
