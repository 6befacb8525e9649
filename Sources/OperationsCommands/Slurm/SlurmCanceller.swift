// SPDX-License-Identifier: Apache-2.0
// Part of opq; see LICENSE.

import OperationsCore

/// Cancels jobs of a cluster. One call of `scancel` cancels all jobs whose requests have arrived since the start of the
/// last call. A call starts at least one second after the last one.
final class SlurmCanceller: Sendable {
  /// A request to cancel a job.
  struct Request: Hashable, Sendable {
    /// The submission. If its id is not known, only its wrapper is requested to end the command.
    let submission: SlurmSubmission
    let files: SlurmFiles
  }

  private struct Wait {
    let request: Request
    let continuation: CheckedContinuation<SlurmJob.Cancellation, Never>
  }

  private struct State {
    var waits: [Wait] = []
    var isRunning = false
  }

  /// The minimum time between the starts of two calls.
  private static let interval = Duration.seconds(1)
  /// The maximum number of jobs of a call.
  private static let mostRequests = 200

  private let calls: SlurmCalls
  private let state = Locked(State())

  init(calls: SlurmCalls) { self.calls = calls }

  /// Cancels a job, and requests its wrapper to end the command. A job that has not started cannot start afterwards.
  /// Any thread may call it.
  ///
  /// - Parameter request: The job.
  /// - Returns: The result of the request.
  func cancel(_ request: Request) async -> SlurmJob.Cancellation {
    await withCheckedContinuation { continuation in
      let begins = state.withLock { state in
        state.waits.append(Wait(request: request, continuation: continuation))
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if begins { Task.detached { await self.call() } }
    }
  }

  /// Makes calls until no request waits.
  private func call() async {
    while true {
      let begin = ContinuousClock.now
      let waits = state.withLock { state in
        let waits = Array(state.waits.prefix(Self.mostRequests))
        state.waits.removeFirst(waits.count)
        if waits.isEmpty { state.isRunning = false }
        return waits
      }
      if waits.isEmpty { return }
      let marker = SlurmCalls.marker()
      let script = SlurmScript.cancel(waits.map(\.request), marker: marker)
      let output = try? await calls.run(script)
      let results = SlurmAnswer.cancellations(output ?? [], marker: marker)
      for wait in waits {
        wait.continuation.resume(
          returning: results[wait.request.submission.comment] ?? .unclear)
      }
      try? await Task.sleep(until: begin + Self.interval, clock: .continuous)
    }
  }
}
