// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

package import JobFiles

/// Chooses the jobs that run again if a user requests it for some jobs.
///
/// A request for a job repeats the job, the jobs that were skipped or cancelled because of it, directly or indirectly, and
/// the jobs with the condition `always` that need a repeated job. Nothing else is repeated. A job that must run once is
/// repeated only by a request for this job.
package struct RetryChoice: Sendable {
  /// The state of a job at the time of the request.
  package enum State: Hashable, Sendable {
    /// The job has not started, and it will run or be skipped without a request.
    case waiting
    /// The job executes, or it waits between two attempts.
    case running
    /// The job has ended.
    case ended(JobOutcome)
  }

  /// The jobs that run again.
  package struct Choice: Hashable, Sendable {
    /// The indices of all jobs that run again, in ascending order.
    package internal(set) var indices: [Int] = []
    /// The indices of the jobs that were requested and run again.
    package internal(set) var requested: Set<Int> = []
    /// For each requested job that does not run again, the reason as one sentence. Characters that control a terminal are
    /// escaped.
    package internal(set) var refusals: [String: String] = [:]
  }

  let plan: JobPlan
  let states: [State]

  /// Creates a choice.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - states: The states of all jobs, in the order of the plan.
  package init(_ plan: JobPlan, states: [State]) {
    self.plan = plan
    self.states = states
  }

  /// Returns the jobs that run again if a user requests it for some jobs.
  ///
  /// - Parameter ids: The ids of the requested jobs.
  /// - Returns: The jobs, and the reasons for which requested jobs do not run again.
  package func choice(for ids: [String]) -> Choice { Choice() }
}
