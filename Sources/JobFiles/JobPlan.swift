// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

/// The jobs of a job file with everything that a runner must know to execute them.
///
/// A plan is valid: each need is a job of the plan, the needs form no cycle, and each queue exists.
package struct JobPlan: Hashable, Sendable {
  /// A queue that executes jobs.
  package struct Queue: Hashable, Sendable {
    package let name: String
    /// The maximum number of jobs that execute at once; at least 1.
    package var width: Int
    /// The maximum number of jobs that start in a second; `nil` for no limit.
    package let startsPerSecond: Int?
  }

  /// A variable of the environment with its value.
  package struct Variable: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package enum Priority: String, CaseIterable, Sendable {
    case veryLow = "very-low"
    case low, normal, high
    case veryHigh = "very-high"
  }

  /// The results of its needs with which a job runs.
  package enum Condition: String, CaseIterable, Sendable {
    /// All needs have succeeded. A need that was skipped or cancelled has not succeeded.
    case success
    /// A need has failed.
    case failure
    /// All needs have ended: they succeeded, failed, or were skipped or cancelled.
    case always
  }

  /// A command with its settings. A job of the file with `each` becomes several jobs of the plan.
  package struct Job: Hashable, Sendable {
    /// The name, which is unique in the plan, such as `fetch` or `align[1]`. The jobs of a plan that was read
    /// from plain lines have names such as `line-3`, with the numbers of their lines.
    package let id: String
    /// The name of the job in the file, such as `align`. The jobs of a group follow each other in the plan.
    package let group: String
    /// The line of the job's key in the file.
    package let line: Int
    /// The command, which the shell interprets.
    package let command: String
    /// The name of the queue.
    package let queue: String
    /// The indices of the jobs that must end before this job starts.
    ///
    /// A need for all jobs of a group is one range. Therefore the size of the plan does not grow with the
    /// product of the sizes of two groups. No range is empty, and no range occurs twice.
    package internal(set) var needs: [Range<Int>]
    /// The variables of `each`, with the values of this job.
    package let variables: [Variable]
    /// The maximum number of attempts after the first one.
    package let retries: Int
    /// The time between two attempts.
    package let retryPause: Duration
    /// The maximum duration of an attempt; `nil` for no limit.
    package let timeout: Duration?
    /// The time between the request to end and the forced end of a command.
    package let grace: Duration
    /// The shell that interprets the command, as the first argument `-c` and the second argument ``command``.
    package let shell: String
    package let priority: Priority
    /// Whether the job must not be repeated unless the user requests it.
    package let isOnce: Bool
    package let condition: Condition
    /// What the job requests from a Slurm cluster.
    package let slurm: SlurmRequest
  }

  /// The queues, in the order of the file. If the file does not declare the queue `default`, the queue is
  /// last, and it is missing if no job uses it.
  package internal(set) var queues: [Queue]
  /// The variables of the environment of all jobs.
  package internal(set) var environment: [Variable]
  /// The jobs in the order of the file.
  package internal(set) var jobs: [Job]

  /// The indices of all jobs in an order in which each job follows its needs.
  package var order: [Int] { JobGraph(jobs).order }

  /// Sets the width of all queues.
  ///
  /// - Parameter width: The new width. Less than 1 counts as 1.
  package mutating func setWidths(_ width: Int) {
    for index in queues.indices { queues[index].width = max(1, width) }
  }

  /// Returns the variables that the file sets for a job: those of all jobs, then those of `each`, which replace
  /// variables of the same name. The runner adds the variables whose names begin with `OPQ_`.
  package func environment(of job: Job) -> [String: String] {
    var values: [String: String] = [:]
    for variable in environment + job.variables { values[variable.name] = variable.value }
    return values
  }
}
