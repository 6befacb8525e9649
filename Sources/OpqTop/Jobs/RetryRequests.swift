// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import JobRun
import OperationsCollector
import Synchronization

/// The requests of viewers to retry jobs of a run that this process executes. All members can be used on any thread.
final class RetryRequests: Sendable {
  private struct State {
    /// The jobs; `nil` before they are known.
    var jobs: JobRun?
    /// The number of requests that are being answered.
    var openCount = 0
    var hasEnded = false
  }

  private let state = Mutex(State())
  private let ring: @Sendable () -> Void

  /// Creates a value that refuses requests.
  ///
  /// - Parameter ring: A closure that is called after each request.
  init(ring: @escaping @Sendable () -> Void) { self.ring = ring }

  /// Accepts requests from now on.
  func begin(_ jobs: JobRun) { state.withLock { $0.jobs = jobs } }

  /// Refuses requests from now on, if all jobs have ended and no request is being answered.
  ///
  /// - Returns: Whether requests are refused. If not, jobs may run again.
  func end() -> Bool {
    let jobs = state.withLock { state -> JobRun? in
      guard state.openCount == 0, let jobs = state.jobs else { return nil }
      state.hasEnded = true
      return jobs
    }
    guard let jobs else { return false }
    if jobs.isFinished { return true }
    // A request was answered before the call.
    state.withLock { $0.hasEnded = false }
    return false
  }

  /// Retries jobs.
  ///
  /// - Parameter names: The names of the jobs.
  /// - Returns: An answer for each name, in the same order.
  func answers(for names: [String]) -> [JobRetry.Answer] {
    let (jobs, hasEnded) = state.withLock { state in
      if state.jobs != nil, !state.hasEnded { state.openCount += 1 }
      return (state.jobs, state.hasEnded)
    }
    guard let jobs, !hasEnded else {
      let reason = hasEnded ? "the runner is about to end" : "the run has not started"
      return names.map { _ in .refused(reason) }
    }
    let choice = jobs.retryPossible(names)
    state.withLock { $0.openCount -= 1 }
    ring()
    return names.map { name in
      if let refusal = choice.refusals[name] { return .refused(refusal) }
      let isRequested = jobs.index(ofJob: name).map { choice.requested.contains($0) } ?? false
      return isRequested ? .accepted : .refused("\(name) does not run again")
    }
  }
}
