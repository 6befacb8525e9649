// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import MonitorProtocol
import OperationsCommands

@testable import OpqTop

/// Rows of `squeue`, as a real Slurm prints them.
enum SlurmRows {
  /// The time of the submission in all rows, in seconds since 1970.
  static let submitted = 1_795_882_908

  /// Returns the row of a job.
  ///
  /// - Parameters:
  ///   - id: The id of the job or task. No other job or task has it.
  ///   - array: The id of the array, and the tasks, such as `1-6%2`.
  ///   - state: The state.
  ///   - reason: The reason.
  ///   - times: The start and the end, in seconds after the submission.
  ///   - dependency: The dependencies.
  ///   - partition: The partitions.
  ///   - nodes: The nodes.
  ///   - priority: The priority.
  ///   - name: The name.
  /// - Returns: The row.
  static func row(
    _ id: Int, array: (id: Int, tasks: String)? = nil, _ state: String = "PENDING",
    _ reason: String = "None", times: (start: Int?, end: Int?) = (nil, nil),
    dependency: String = "(null)", partition: String = "main", nodes: String = "",
    priority: String = "42", name: String = "job"
  ) -> WatchedSlurmJob {
    func time(_ seconds: Int?) -> String { seconds.map { "\(submitted + $0)" } ?? "N/A" }
    let isOne = array.map { Int($0.tasks) != nil } ?? true
    let shown = array.map { "\($0.id)_\(isOne ? $0.tasks : "[\($0.tasks)]")" } ?? "\(id)"
    let fields = [
      "M", shown, "\(id)", "\(array?.id ?? id)", array?.tasks ?? "N/A", state, reason, time(0),
      time(times.start), time(times.end), nodes, partition, "ann", "(null)", priority,
      dependency, name,
    ]
    let line = fields.joined(separator: "\u{1f}")
    return WatchedSlurmJob.all(in: line, marker: "M")[0]
  }

  /// Returns a time that is some seconds after the submission. The clock of the tests was zero at the submission.
  static func time(_ seconds: Int) -> MonitorTime {
    MonitorTime(nanoseconds: Int64(seconds) * 1_000_000_000)
  }

  /// Returns a picture without jobs.
  static func picture(mostForgotten: Int = 100, showsUsers: Bool = false) -> SlurmPicture {
    SlurmPicture(
      showsUsers: showsUsers, secondsSince1970AtZero: Double(submitted),
      mostForgotten: mostForgotten)
  }
}
